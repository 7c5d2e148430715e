"""Two charts side by side, as a user confirmed it: kept beside both and with neither."""

from pydantic import AwareDatetime

from data_models.chart_view import ChartView
from data_models.document import Document
from data_models.documents import Documents
from data_models.identifiers import PatientId
from data_models.layout import ConversationLayout


class Comparison(Document):
    """`comparisons/{run_id}.json`.

    Attributes:
        patients: Whose charts stand in it, in the order of their columns.
        asked: What the user wanted compared, as typed.
        compared_by: Principal id of who confirmed it.
    """

    run_id: str
    patients: list[PatientId]
    asked: str
    compared_by: str
    compared_at: AwareDatetime
    view: ChartView


class ComparisonAccessor:
    """Keeps comparisons."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def keep(self, comparison: Comparison) -> None:
        """Store it; one of the same run, of an attempt that died, is written over.

        Raises:
            StoreError: it could not be stored.
        """
        name = ConversationLayout.of(comparison.conversation_id).comparison(comparison.run_id)
        await self._documents.put(name, comparison)

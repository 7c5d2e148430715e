"""Two charts side by side, as a user confirmed it: kept beside both and with neither."""

from pydantic import AwareDatetime

from data_models.chart_view import ChartView
from data_models.document import Document
from data_models.documents import Documents, is_left_over
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
    """Keeps comparisons and reads them back."""

    def __init__(self, *, documents: Documents) -> None:
        self._documents = documents

    async def keep(self, comparison: Comparison) -> None:
        """Store it; one of the same run, of an attempt that died, is written over.

        Raises:
            StoreError: it could not be stored.
        """
        name = ConversationLayout.of(comparison.conversation_id).comparison(comparison.run_id)
        await self._documents.put(name, comparison)

    async def read(self, conversation_id: str, run_id: str, *, epoch: int) -> Comparison | None:
        """Return the comparison of a run; None if there is none since the last clear.

        Raises:
            CorruptDocumentError: it exists but cannot be read.
        """
        name = ConversationLayout.of(conversation_id).comparison(run_id)
        stored = await self._documents.read(name, Comparison, conversation_id=conversation_id)
        if stored is None or is_left_over(stored.document, epoch):
            return None
        return stored.document

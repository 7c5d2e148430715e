"""Rows of a chart, as a tool returns them and every surface draws them."""

import re
from typing import Literal, TypeAlias

from pydantic import Field

from data_models.values import Part

# Overrides and isolates of direction: after one, "50 mg" may be drawn as "gm 05". Texts that run
# from right to left need none of them. Nor does any text need signs that part a word unseen.
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069\u00ad\u200b\u2060\ufeff]")


def in_written_order(text: str) -> str:
    """Return `text` without signs that have it shown otherwise than it is written."""
    return text if text.isascii() else _OVERRIDES.sub("", text)


ViewKind: TypeAlias = Literal["facts", "series", "table", "timeline", "passages"]

FOREIGN = "foreign"
"""The kind of what another system said of the world, not of the patient."""
PUBLICATION = "publication"
"""The kind of what was published: quoted with its PMID, and never the record."""
ATTACHED = "attached paper"
"""The kind of what a user gave to the talk: about the patient perhaps, and never the record."""
ATTACHED_REF = "Attachment/"
"""What the source ids of attached papers begin with."""
NOT_OF_THE_PATIENT = frozenset({"guideline", "criterion", "study", FOREIGN, PUBLICATION})
"""Kinds of rows whose words say nothing of the patient: they support no statement on them."""


class ViewSource(Part):
    """One resource of the record that rows stand on.

    Attributes:
        ref: Source id, such as `Observation/k-7`.
        date: Clinical date as recorded, perhaps partial; None when undated.
        title: What the source is, for people.
        quote: The words that say so, when the source is a text.
    """

    ref: str
    date: str | None = None
    title: str = ""
    quote: str | None = None


class SaidValue(Part, frozen=True):
    """A value as shown, from when it is, and what says so, the newest first."""

    value: str = ""
    date: str = ""
    sources: tuple[str, ...] = ()


class ViewRow(SaidValue):
    """One statement of the record; all texts are as shown, "" where the record has none.

    Attributes:
        kind: What it is: `laboratory`, `vital sign`, `problem`, `medication`, `allergy` …
        name: What it is called, such as `Potassium`.
        value: As shown: as recorded, or rounded to four significant digits where more are recorded.
        number: The value as a number in `unit`, for drawing and comparing; None where it is none.
        unit: As recorded.
        range: Reference range, as recorded.
        flag: `high`, `low`, `critical`, `abnormal` or "".
        status: Such as `active`, `stopped`, `resolved`, `not in the record`.
        date: When it was, in the record's own offset: `2026-12-02` or `2026-12-02T09:12:00+01:00`.
        end: When it ended, likewise.
        detail: The rest in words: dose, reaction, reason, place, people.
        earlier: What a status or a marker was before, the oldest first; none if some is left out.
        code: Codes as `system|code`, for those who look things up.
        sources: Source ids, the newest first.
    """

    kind: str = ""
    name: str
    number: float | None = None
    unit: str = ""
    range: str = ""
    flag: str = ""
    status: str = ""
    end: str = ""
    detail: str = ""
    earlier: tuple[SaidValue, ...] = ()
    code: tuple[str, ...] = ()


class LeftOut(Part):
    """Rows that are not shown.

    Attributes:
        count: How many.
        what: Of what, such as `resolved problems`.
        argument: What brings them, such as `status=all`.
    """

    count: int
    what: str
    argument: str = ""


class ChartView(Part):
    """What one tool call found in the chart of one patient.

    Attributes:
        view_id: Unique within the conversation.
        tool: The tool that made it.
        title: For people, such as `Potassium`.
        columns: Fields of `ViewRow` in the order in which a table shows them.
        labels: What stands over the columns, where it is not their own names; "" for none.
        left_out: What did not fit or was not asked for.
        nothing: Where there are no rows: what is not in the record and what was searched.
        must_be_shown: Its active rows did not fit into what a model gets, so the user sees all.
        notes: What the record itself lacks, such as `2 entries could not be read`.
    """

    view_id: str = ""
    tool: str
    patient_id: str = ""
    kind: ViewKind
    title: str
    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[ViewRow, ...] = ()
    sources: tuple[ViewSource, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    nothing: str = ""
    must_be_shown: bool = False
    notes: tuple[str, ...] = Field(default=())

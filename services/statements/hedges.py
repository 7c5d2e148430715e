"""Whether a row of a chart is so, is over, or is no fact at all, by status and certainty. Pure."""

from data_models.chart_view import ViewRow
from services.records.measurements import NOT_PATIENTS
from services.records.standing import DOUBTFUL, FORBIDDEN, NOT_KNOWN, NOT_YET
from services.statements.one_of_several import DONE_ONCE
from services.statements.rows import Standing, stems_of

_STANDING: dict[str, Standing] = {
    **dict.fromkeys(("active", "recurrence", "relapse", "in-progress", "current"), "active"),
    **dict.fromkeys(("taken now", "ongoing"), "active"),
    **dict.fromkeys(("stopped", "resolved", "inactive", "completed", "cancelled"), "ended"),
    **dict.fromkeys(("ended", "remission", "discontinued", "revoked", "on-hold"), "ended"),
    **dict.fromkeys(("not in the record", "refuted", "absent", "not known"), "absent"),
    **dict.fromkeys(("ruled out", "negated", "not-done", "not done"), "absent"),
    **dict.fromkeys(("not-taken", "not taken", "noshow", FORBIDDEN), "absent"),
}
OF_NONE = frozenset({"no", "known", "current", "previous", "history", "information", "about"})
"""Words of what states an absence that say not of what."""
_BYGONE = (frozenset({"personal", "history"}), frozenset({"zustand", "nach"}))
_BROKEN_OFF = frozenset({"stopped", "on-hold"})


def standing_of(row: ViewRow) -> Standing:
    """Return whether what a row tells of holds now; a visit that was cancelled never was."""
    if row.status == "cancelled" and row.kind in DONE_ONCE:
        return "absent"
    if any(words <= stems_of(row.name) for words in _BYGONE):
        return "ended"
    return _STANDING.get(row.status.lower(), "")


def hedges_of(row: ViewRow) -> frozenset[str]:
    """Return the words with which alone a row may be told that is no fact of the patient."""
    if row.kind == NOT_KNOWN:
        return stems_of("information unknown")
    doubts = DOUBTFUL & {*row.detail.split("; ")}
    if doubts:
        return stems_of(f"{' '.join(doubts)} suspected possible")
    if row.name.endswith(NOT_PATIENTS):
        whose = row.name.rpartition("(of ")[2].removesuffix(NOT_PATIENTS)
        return stems_of(f"{whose} fetal" if "fetus" in whose.casefold() else whose)
    is_broken_off = row.kind == "procedure" and row.status in _BROKEN_OFF
    if is_broken_off or row.status in NOT_YET:
        return stems_of(row.status.removeprefix("only a"))
    return frozenset()

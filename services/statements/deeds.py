"""Which deeds the runs of tools prove, and which a clause claims."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from data_models.plain_yaml import read_yaml
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import read_sentence
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words

OWN = "own"
"""What "I called the ward" claims: something that no answer is made by."""

DONE = "done"
"""What "Done." claims: something was changed."""

COMPLETED, OF_PLAN = "completed", "{} of a plan"

CARRIED_OUT = "carried out"
"""What "Order placed." and "Your appointment is confirmed." claim, of whatever errand."""

_TOOLS: Mapping[str, Mapping[str, str]] = read_yaml(
    Path(__file__).with_name("deeds.yaml").read_bytes()
)
OUTWARD = frozenset({"sent", "prescribed", "referred", "signed"})
"""What reaches somebody else."""
NEVER_DONE = frozenset({"ordered"})
"""What nothing here does: a draft of an order is none, whatever was said of it before."""
_SHORT_CLAIM_WORDS, _HEAD_WORDS = 2, 14
# "The lymph nodes were removed", "chemotherapy was completed": what happened to the patient.
_OF_A_COURSE = frozenset({"deleted", "completed", "ordered", "adjusted", "signed", DONE})
_IN_A_COURSE = frozenset({"ordered", "sent", "booked", "referred", "registered", "cancelled"})
_IN_THE_BODY = frozenset({"=device"})
"""What is removed of these was in the patient: "the implant was removed"."""
_OF_RECORDS = frozenset({"saved", "added", "deleted", "registered", "booked", "sent"})


def proven_by(tool: str) -> Iterator[str]:
    """Yield the deeds that a run of `tool` did, such as `booked`."""
    if (kind := _TOOLS["done"].get(tool.partition("_")[0])) is not None:
        yield from (kind, DONE, CARRIED_OUT)
    if tool == "move_appointment":
        yield "booked"
    if tool in ("create_event", "create_report", "draft_mail"):
        yield from ("booked",) if tool == "create_event" else ("saved", "added")


def found_by(tool: str) -> Iterator[str]:
    """Yield the deeds that a run of `tool` looks up as done, by whomever."""
    if tool in _TOOLS["looked_up"]:
        yield from (*_TOOLS["looked_up"][tool].split(), CARRIED_OUT)


def is_own_claim(clause: Clause) -> bool:
    """Whether a clause claims the deed for who speaks: `I cancelled it`, `Cancelled.`."""
    return _is_bare(clause) or "first_person" in clause.cues


def _is_bare(clause: Clause) -> bool:
    """Whether a clause tells a deed alone, or of "that" that it is done."""
    words = clause.words - (saying("that_is") if f"deed:{DONE}" in clause.cues else frozenset())
    return len(words) <= _SHORT_CLAIM_WORDS and not (clause.names or clause.has_values)


def claims_deed(clause: Clause, kinds: Sequence[str], *, reads_records: bool) -> bool:
    """Whether a clause tells of a deed of this conversation, not of the patient's course."""
    if _is_bare(clause):
        return True
    if kinds == [CARRIED_OUT]:  # the record has its own: "the diagnosis was confirmed"
        is_errand = bool(clause.cues & {"things_done", "errands", "first_person"})
        is_of_record = reads_records and "errands" not in clause.cues
        return is_errand and not is_of_record and ("when" not in clause.cues or reads_records)
    if kinds == [DONE] or "doers" not in clause.cues:
        return False
    if clause.cues & {"things_done", "first_person"}:
        return True
    if not reads_records:
        return not _OF_A_COURSE.issuperset(kinds)
    means = {"=procedure"} if clause.says("by") else set[str]()  # "removed by surgery"
    return bool({*clause.topics} - _IN_THE_BODY - means) and bool(_OF_RECORDS & set(kinds))


def is_in_course(
    clause: Clause,
    kinds: Sequence[str],
    known: Collection[str],
    *,
    is_cited: bool,
    reads_records: bool = True,
) -> bool:
    """Whether what was done in the patient's course is told by a word of `known`, where it must.

    "The biopsy is ordered", now, on no day and from no row, is this conversation's own deed,
    whatever a letter says.
    """
    is_told = "doers" in clause.cues or not reads_records  # "CT ordered for tomorrow"
    is_errand = CARRIED_OUT in kinds and "things_done" in clause.cues
    is_told = is_told and (bool(_IN_A_COURSE & set(kinds)) or is_errand)
    if not is_told or clause.cues & {"maybe", "no", "nothing", "not_yet"}:
        return True
    if "is_now" in clause.cues and not clause.has_values and not is_cited:
        return False
    words = statement_words()
    told = [word for kind in kinds for word in words.deeds.get(kind, ())]
    begun = tuple(begin for word in told for begin in words.happening.get(word, ()))
    return any(word in told or word.startswith(begun) for word in known)


def tells_deed(paragraph: str) -> bool:
    """Whether it is one of our own reports: "**Added**", "Booked: …", "Nothing was changed: …"."""
    head, colon, _ = paragraph.strip().partition("\n")[0].partition(":")
    is_report = len(head.split()) <= _HEAD_WORDS and bool(colon or head.startswith("**"))
    cues = read_sentence(f"{head.strip('*')}.").cues if is_report else ()
    return any(cue.startswith("deed:") or cue == "nothing" for cue in cues)

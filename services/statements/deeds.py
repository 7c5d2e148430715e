"""Which deeds the runs of tools prove, and what they say of one that an agent claims."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from data_models.plain_yaml import read_yaml
from services.language.sentences.clauses import Clause
from services.language.sentences.own_deeds import begins_with_deed, notes_deed
from services.language.sentences.statements import Sentence, read_sentence
from services.language.words.statement_tables import saying, stem
from services.language.words.statement_words import statement_words
from services.statements.comparing.compare import compare_values
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known_words import has_all
from services.statements.rows.rows import KnownRow, told_of
from services.statements.rows.verdict import UNCHECKED, Verdict

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


def _is_bare(clause: Clause) -> bool:
    """Whether a clause tells a deed alone, or of "that" that it is done."""
    words = clause.words - (saying("that_is") if f"deed:{DONE}" in clause.cues else frozenset())
    return len(words) <= _SHORT_CLAIM_WORDS and not (clause.names or clause.has_values)


def claims_deed(clause: Clause, kinds: Sequence[str], *, reads_records: bool) -> bool:
    """Whether a clause tells of a deed of this conversation, not of the patient's course."""
    if _is_bare(clause):
        return True
    if kinds == [CARRIED_OUT]:  # the record has its own: "the diagnosis was confirmed"
        if reads_records:
            return "errands" in clause.cues
        is_there = "is_now" in clause.cues and clause.says("elsewhere")  # "the MRI is confirmed"
        is_errand = is_there or clause.says("of_a_receipt")
        is_errand |= bool(clause.cues & {"things_done", "errands", "first_person"})
        return is_errand and "when" not in clause.cues
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
    known: Sequence[KnownRow],
    *,
    is_cited: bool,
    reads_records: bool = True,
) -> bool:
    """Whether that it was done in the patient's course is told by one of `known`, where it must.

    "The biopsy is ordered", now, on no day and from no row, is this conversation's own deed,
    whatever a letter says.
    """
    is_thing = "things_done" in clause.cues  # "CT ordered for tomorrow", "Note saved"
    may_be = _IN_A_COURSE | ({CARRIED_OUT} | _OF_RECORDS if is_thing else frozenset())
    is_told = "doers" in clause.cues or is_thing or not reads_records
    is_told = is_told and not may_be.isdisjoint(kinds)
    if not is_told or clause.cues & {"maybe", "no", "nothing", "not_yet"}:
        return True
    if "is_now" in clause.cues and not clause.has_values and not is_cited:
        return False
    words = statement_words()
    told = [word for kind in kinds for word in words.deeds.get(kind, ())]
    begun = tuple(begin for word in told for begin in words.happening.get(word, ()))
    what = told_of(clause.words) - words.neutral - frozenset(told)
    done = (row for row in known if any(w in told or w.startswith(begun) for w in row.words))
    return any(has_all(what, row.words) for row in done)


def tells_deed(paragraph: str) -> bool:
    """Whether it is one of our own reports: "**Added**", "Booked: …", "Nothing was changed: …"."""
    head, colon, _ = paragraph.strip().partition("\n")[0].partition(":")
    is_report = len(head.split()) <= _HEAD_WORDS and bool(colon or head.startswith("**"))
    cues = read_sentence(f"{head.strip('*')}.").cues if is_report else ()
    return any(cue.startswith("deed:") or cue == "nothing" for cue in cues)


_NO_NOTE = frozenset({"asserts", "maybe", "no", "not_yet", "nothing"})
"""With these who leads, by whom nothing is done, notes no deed."""


def deed_told(
    sentence: Sentence, clause: Clause, grounds: Grounds, speaker: Speaker
) -> Verdict | None:
    """Return the verdict over a deed that the agent claims; None where it claims none."""
    reads_records = speaker.reads_records
    kinds = _kinds(sentence, clause, reads_records=reads_records)
    is_beyond = "first_person" in clause.cues and (  # "I can prescribe drugs", "I can book scans"
        clause.says("beyond_us")
        or (clause.says("arranging") and clause.says("elsewhere") and not clause.says("drafts"))
    )
    is_clipped = _is_clipped(sentence, clause, kinds, grounds, speaker)
    kinds += [CARRIED_OUT if clause.cues & {"no", "nothing"} else OWN] * (is_beyond or is_clipped)
    if not kinds:
        return None
    # "Chart updated: …", "Done – …" are no words of a record.
    may_be_reported = not reads_records or "of_chart" in clause.cues or DONE in kinds
    is_reported = is_clipped or is_beyond
    is_reported |= may_be_reported and _is_reported(sentence, clause, kinds)
    if not is_reported and not claims_deed(clause, kinds, reads_records=reads_records):
        is_cited = bool(sentence.refs)
        is_of_course = not reads_records and NEVER_DONE.isdisjoint(kinds)
        is_told = is_of_course or is_in_course(
            clause, kinds, grounds.rows.rows, is_cited=is_cited, reads_records=reads_records
        )
        return None if is_told else Verdict("unsupported")
    is_hedged = clause.cues & {"maybe", "no", "nothing", "not_yet"} or "not_yet" in sentence.cues
    if is_hedged and OWN not in kinds:
        return UNCHECKED
    is_own = is_reported or _is_bare(clause) or "first_person" in clause.cues
    is_refused = is_own and not grounds.refused.isdisjoint(kinds)
    of_plan = () if clause.words.isdisjoint(saying("of_aims")) else map(OF_PLAN.format, kinds)
    # "Written and sent" is not true by what was written.
    claimed = {*kinds} & OUTWARD or {*kinds, *of_plan}
    if not is_refused and claimed & (
        grounds.deeds if is_own else grounds.deeds | grounds.found_done
    ):
        return UNCHECKED
    if kinds == [OWN] and DONE in grounds.deeds:
        return Verdict("unsupported")  # something was done; whether it was that nobody knows
    found = compare_values(clause, grounds.rows, names=clause.names)
    is_of_course = clause.has_values and "first_person" not in clause.cues
    if found.state == "supported" and clause.names and is_of_course:
        return UNCHECKED
    said = next((kind for kind in kinds if kind != OWN), "done")
    return Verdict("contradicted", (), f"Nothing was {said} in this conversation.")


def _is_clipped(
    sentence: Sentence, clause: Clause, kinds: Sequence[str], grounds: Grounds, speaker: Speaker
) -> bool:
    """Whether a note says that something was done, and not by whom: "Documented in the chart."."""
    text, is_bare = sentence.text, not (clause.names or clause.has_values)
    if is_bare and clause.says("charts") and clause.says("writes_down"):
        ends = stem(text.rstrip(" .!*").rpartition(" ")[2].lower()) in saying("writes_down")
        return begins_with_deed(text) or notes_deed(text) or (ends and "is_now" not in clause.cues)
    if speaker.reads_records:
        return False
    reaches = "errands" in clause.cues or clause.says("doctor") or not NEVER_DONE.isdisjoint(kinds)
    is_note = speaker.leads and not ({DONE, CARRIED_OUT} & grounds.deeds or clause.cues & _NO_NOTE)
    return (reaches and begins_with_deed(text)) or (is_note and notes_deed(text))


def _kinds(sentence: Sentence, clause: Clause, *, reads_records: bool) -> list[str]:
    """Return what deeds words tell; of "Completed." and "Booking reference: 88123" one, too."""
    told = [cue[5:] for cue in clause.cues if cue.startswith("deed:")]
    if reads_records:
        return [] if sentence.is_heading and clause.topics else told  # "Stopped medicines"
    is_over = "ended" in clause.cues and len(clause.words) == 1
    is_receipt = clause.says("of_a_receipt") and clause.has_values
    return told or [COMPLETED] * is_over or [CARRIED_OUT] * is_receipt


def _is_reported(sentence: Sentence, clause: Clause, kinds: Sequence[str]) -> bool:
    """Whether a sentence without a verb begins or ends with the deed: "Cancelled the visit".

    Behind the deed at its beginning anything may stand: "Booked: Dr. Smith", "Booked for Tuesday".
    """
    words = sentence.text.strip(" .!*").split() or [""]
    deeds = {word for kind in kinds for word in statement_words().deeds.get(kind, ())}
    first, last = (stem(one.lower().strip(":,*")) for one in (words[0], words[-1]))
    behind = words[1].lower() if len(words) > 1 else ""
    is_head = words[0].rstrip("*").endswith((":", ",")) or behind in saying("behind_a_deed")
    if first in deeds and is_head:
        return True
    is_clipped = not ({"things_done"} - clause.cues or "doers" in clause.cues)
    return is_clipped and not deeds.isdisjoint((first, last))

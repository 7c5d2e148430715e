"""What the runs of tools say of a deed that an agent claims."""

from collections.abc import Sequence

from services.language.sentences.clauses import Clause
from services.language.sentences.own_deeds import begins_with_deed, notes_deed
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stem
from services.language.words.statement_words import statement_words
from services.statements.comparing.compare import compare_values
from services.statements.deeds import (
    CARRIED_OUT,
    COMPLETED,
    DONE,
    NEVER_DONE,
    OF_PLAN,
    OUTWARD,
    OWN,
    claims_deed,
    is_in_course,
    is_own_claim,
)
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.verdict import UNCHECKED, Verdict

_NO_NOTE = frozenset({"asserts", "maybe", "no", "not_yet", "nothing"})
"""With these who leads, by whom nothing is done, notes no deed."""


def deed_told(
    sentence: Sentence, clause: Clause, grounds: Grounds, speaker: Speaker
) -> Verdict | None:
    """Return the verdict over a deed that the agent claims; None where it claims none."""
    reads_records = speaker.reads_records
    kinds = [cue[5:] for cue in clause.cues if cue.startswith("deed:")]
    is_over = "ended" in clause.cues and len(clause.words) == 1 and not reads_records
    kinds += [COMPLETED] * is_over  # "Completed."
    is_beyond = "first_person" in clause.cues and (  # "I can prescribe drugs", "I can book scans"
        clause.says("beyond_us")
        or (clause.says("arranging") and clause.says("elsewhere") and not clause.says("drafts"))
    )
    reaches = "errands" in clause.cues or clause.says("doctor") or not NEVER_DONE.isdisjoint(kinds)
    is_note = speaker.leads and not ({DONE, CARRIED_OUT} & grounds.deeds or clause.cues & _NO_NOTE)
    is_clipped = not reads_records and (
        (reaches and begins_with_deed(sentence.text)) or (is_note and notes_deed(sentence.text))
    )
    kinds += [CARRIED_OUT if clause.cues & {"no", "nothing"} else OWN] * (is_beyond or is_clipped)
    if not kinds:
        return None
    # "Chart updated: …", "Done – …" are no words of a record.
    may_be_reported = not reads_records or "of_chart" in clause.cues or DONE in kinds
    is_reported = may_be_reported and (is_clipped or _is_reported(sentence, clause, kinds))
    is_reported |= is_beyond
    if not is_reported and not claims_deed(clause, kinds, reads_records=reads_records):
        is_cited = bool(sentence.refs)
        is_of_course = not reads_records and NEVER_DONE.isdisjoint(kinds)
        is_told = is_of_course or is_in_course(
            clause, kinds, grounds.rows.words, is_cited=is_cited, reads_records=reads_records
        )
        return None if is_told else Verdict("unsupported")
    is_hedged = clause.cues & {"maybe", "no", "nothing", "not_yet"} or "not_yet" in sentence.cues
    if is_hedged and OWN not in kinds:
        return UNCHECKED
    is_own = is_reported or is_own_claim(clause)
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


def _is_reported(sentence: Sentence, clause: Clause, kinds: Sequence[str]) -> bool:
    """Whether a sentence without a verb begins or ends with the deed: "Cancelled the visit".

    Behind the deed at its beginning anything may stand: "Booked: Dr. Smith", "Booked for Tuesday".
    """
    words = sentence.text.strip(" .!*").split() or [""]
    deeds = {word for kind in kinds for word in statement_words().deeds.get(kind, ())}
    first, last = (stem(one.lower().strip(":,*")) for one in (words[0], words[-1]))
    if "doers" in clause.cues:
        return False
    behind = words[1].lower() if len(words) > 1 else ""
    is_head = words[0].rstrip("*").endswith((":", ",")) or behind in saying("behind_a_deed")
    if first in deeds and is_head:
        return True
    return not deeds.isdisjoint((first, last)) and "things_done" in clause.cues

"""Answers that name nothing themselves, read as if they named what was asked. Pure.

"Yes.", "None recorded.", "All normal.", "0". And what is repeated as a user's words.
"""

from collections.abc import Callable, Iterator
from functools import cache

from services.language.replies.yes_no import yes_no_in
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stem, stems_told
from services.language.words.statement_words import statement_words
from services.statements.comparing.compare import compare_values
from services.statements.grounds import Grounds
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.rows import JUDGED, clause_of, told_of
from services.statements.rows.verdict import UNCHECKED, Verdict, worst

_HABIT = {True: "non-smoker", False: "smoker"}
"""What a bare answer to a question about smoking says, by whether it denies."""
_ACTIVE, _NOW = "Active", "currently yes"
_TOLD, _FEW_WORDS = frozenset({"asserts", "ended", "takes"}), 4
_ANSWER_WORDS = 8


def of_bare_answer(
    sentence: Sentence, grounds: Grounds, check: Callable[[str], Verdict]
) -> Verdict | None:
    """Return the verdict over an answer that names nothing; None for any other sentence.

    Args:
        check: Gives the verdict over a sentence that names what it is of.
    """
    if grounds.asked_now and _names_alone(sentence):
        so_now = check(f"{_ACTIVE}: {sentence.text}")
        return so_now if so_now.state == "contradicted" else None
    counted = grounds.question.lower().split()[:2]  # "how many"
    if len(sentence.text.split()) <= len(counted) and not saying("how_many").isdisjoint(counted):
        return check(told_by(grounds.question, sentence.text))
    head, comma, _ = sentence.text.partition(",")
    is_over = any(one.cues & {"ended", "not_yet"} for one in sentence.clauses)
    if comma and yes_no_in(head) == "yes" and grounds.asked_now and not is_over:
        # "Yes, abiraterone since 2022", asked whether it is still taken, says first that it is.
        first = of_bare_answer(grounds.rows.read(f"{head}."), grounds, check)
        return first if first is not None and first.state == "contradicted" else None
    if not _is_bare_answer(sentence):
        return None
    verdicts = [check(one) for one in _as_answers(sentence, grounds)]
    found = worst(verdicts)
    is_told = found.state != "unchecked" and not _judges_of_own(sentence, grounds.rows)
    return found if is_told or not verdicts else Verdict("unsupported", found.sources)


def told_by(question: str, answer: str) -> str:
    """Return a question and its short answer as one statement; "" where they make none.

    By "Which leg was bypassed? The right." the right leg was, by "Is he …? He is." he is.
    """
    asked, said = question.strip(" *_?\n").split(), answer.strip(" *_.!\n")
    words = [one.lower() for one in asked]
    is_short = said[:1].isalnum() and len(said.split()) <= _ANSWER_WORDS
    if not (words and is_short) or saying("of_users").intersection(words):
        return ""
    if words[0] in saying("asks_why") and not clause_of(said).says("causes"):
        said = f"because of {said}"
    if words[0] in saying("asks_when", "asks_which", "asks_why"):
        rest = (one for one in asked[1:] if one not in saying("how_many"))
        return f"{said.removesuffix(' one')} {' '.join(rest)}."
    head, comma, rest_said = said.partition(",")
    told, denying = {*head.lower().split()}, saying("denying_alone")
    if yes_no_in(head) is None and not told <= saying("echoing") | denying:
        return "" if told & denying else f"{' '.join(asked)} {said}."
    is_no = yes_no_in(head) == "no" or told & denying
    plain = " ".join(one for one in asked if one.lower() not in denying)
    return f"{'not ' if is_no else ''}{plain}{comma}{rest_said}."


def behind_denial(text: str, rows: KnownRows) -> tuple[str, str]:
    """Return "Not recorded" and what is told behind it, behind "No" that alone; else nothing."""
    head = text
    for sign in (", ", "; ", ": ", " - ", " – ", " — "):
        head = head.partition(sign)[0]
    if len(head) == len(text) or head.count(" ") > _FEW_WORDS:
        return "", ""  # no more is read of nearly all sentences
    said, rest = rows.read(head), text[len(head) + 2 :].lstrip()
    is_denial = "no" in said.cues and _is_bare_answer(said)
    told = rows.read(rest) if is_denial else said
    is_told = is_denial and (_TOLD & told.cues or told.words & saying("told_behind_no"))
    return ("" if yes_no_in(head) else head, rest) if is_told else ("", "")


def as_you_said(clause: Clause, held: KnownRows) -> Verdict:
    """Compare with what users said, in all its words; what they denied is no support for it."""
    named = clause.names or clause.objects
    if clause.has_values and "no" not in clause.cues:
        return compare_values(clause, held, names=named)
    words = clause.words - clause.called - saying("of_saying") - statement_words().fillers
    told = {*named, *filter(str.isalpha, words)}
    if "nothing" in clause.cues or not told:
        return UNCHECKED
    rows = [row for row in held.rows if has_all(told, row.words)]
    is_so = any(row.negated == ("no" in clause.cues) for row in rows)
    return Verdict("supported" if is_so else "unsupported")


def _is_bare_answer(sentence: Sentence) -> bool:
    """Whether a sentence only says yes, no, none, a figure, or how something is."""
    cues = {cue for one in sentence.clauses for cue in one.cues}
    is_other = sentence.is_question or sentence.is_heading or sentence.asks or sentence.refs
    if is_other or cues & {"maybe", "not_yet"}:
        return False
    if cues & {"no", "nothing"} and sentence.words <= stems_told("of_looking_up"):
        return True  # "I found nothing."
    if "first_person" in cues or not all(map(_is_bare, sentence.clauses)):
        return False
    if not sentence.clauses:
        return any(map(str.isdigit, sentence.text))  # "12 May 2025", which has no word
    figures = any(one.quantities or one.dates for one in sentence.clauses)
    figures = figures and len(told_of(sentence.words)) <= 1
    return figures or bool(cues & {"no", *JUDGED} or sentence.words & _answering())


def _names_alone(sentence: Sentence) -> bool:
    """Whether a sentence lists what was asked after and says no more of it: "Viral sinusitis."."""
    told = {"no", "maybe", "recorded", *_TOLD, "when", "past", "before"}
    names = [
        one for one in sentence.clauses if one.names and not (one.has_values or one.cues & told)
    ]
    return bool(names) and len(names) == len(sentence.clauses)


def _is_bare(clause: Clause) -> bool:
    is_named = clause.names or clause.objects or clause.stages or clause.sites or clause.smoking
    is_deed = any("deed:" in cue for cue in clause.cues)
    if is_named or is_deed:
        return False
    own = told_of(clause.words) - statement_words().neutral - _answering()
    return bool(clause.cues & JUDGED) or not own


@cache
def _answering() -> frozenset[str]:
    return stems_told("judging") | frozenset(map(stem, saying("answers_whether")))


def _as_answers(sentence: Sentence, grounds: Grounds) -> Iterator[str]:
    """Yield a bare answer as what it says of each thing that was asked about.

    "Yes" to a question for a whole list says no more than that something is there; to "is she on
    steroids?" that they are taken now.
    """
    said, rows = yes_no_in(sentence.text), grounds.rows
    is_denied = said == "no" or "no" in sentence.cues
    head, _, told = sentence.text.partition(",")
    told = told if told and yes_no_in(head) else sentence.text  # "Yes, 6.1 g/dL."
    for name in grounds.asked:
        clauses = rows.read(name).clauses
        named = [each for one in clauses for each in one.names]
        topics = [] if named else [each for one in clauses for each in one.topics]
        if named and any(row.smoking for row in rows.about(named)):
            yield _HABIT[is_denied]
        elif said != "yes" or not any(rows.about([one]) for one in topics):
            answers = {"no": "none"} | ({"yes": _NOW} if name in grounds.asked_now else {})
            yield f"{name}: {answers.get(said or '', told.strip())}"


def _judges_of_own(sentence: Sentence, rows: KnownRows) -> bool:
    """Whether an answer judges what no row judges: "It is fine"."""
    said = sentence.words & stems_told("judging")
    is_told = any(one.cues & JUDGED for one in sentence.clauses)
    return bool(said) and not is_told and not any(said & row.words for row in rows.rows)

"""Faults planted into right answers are caught by the scorers: 98 of 100 at least.

A right answer is written for each generated question; then a value, a date or a name is changed, a
finished deed is claimed, a hand-over gets lost, or another chart is opened.
"""

import random
from collections.abc import Iterator

import pytest

from evals.cases import Answer, Case, Expect
from evals.chart_questions.charts import charts_in
from evals.chart_questions.questions import questions
from evals.choosing import SYNTHETIC
from evals.models import right_answer
from evals.scoring.answers import score
from evals.scoring.checks import Row, Seen, rows_of
from evals.talk import Message, ToolUse, Turn
from tests.tables import with_cases

NEEDED = 0.98


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return questions(charts_in(SYNTHETIC / "patients"), samples="synthetic", per_kind=6)


def faults(wanted: Answer, text: str, chosen: random.Random) -> Iterator[tuple[str, str]]:
    """Yield answers with one fault each, and what the fault is."""
    if wanted.kind in ("value", "extreme"):
        yield "another value", text.replace(wanted.values[0], changed(wanted.values[0], chosen), 1)
        if wanted.others:
            yield "an older value", text.replace(wanted.values[0], wanted.others[0], 1)
    if wanted.kind == "series":
        value = chosen.choice(wanted.values)
        yield "a wrong point", text.replace(value, changed(value, chosen), 1)
    if wanted.kind == "list":
        lines = text.splitlines()
        lines.remove(chosen.choice(lines))
        yield "one left out", "\n".join(lines) or "Nothing."
        if wanted.others:
            yield "one that is over", f"{text}\n- {wanted.others[0]}"
    yield from other_faults(wanted)
    if wanted.persons:
        yield "another patient", f"{text} ({wanted.persons[0]})"
    yield "nothing said", "How can I help you?"


def other_faults(wanted: Answer) -> Iterator[tuple[str, str]]:
    if wanted.kind == "yes":
        yield "turned round", f"No, {wanted.name} is not active: resolved."
    if wanted.kind == "no":
        yield "turned round", f"Yes, {wanted.name} is active."
    if wanted.kind == "date":
        yield "another date", "The last one was on 1999-12-31."
    if wanted.kind == "count":
        yield "another count", f"{int(wanted.values[0]) + 1} times."
    if wanted.kind == "absent":
        yield "an invented value", f"{wanted.name}: 4.2 mmol/L [Observation/made-up]"


def changed(value: str, chosen: random.Random) -> str:
    """Return another number of the same form: a digit is another, or the point is elsewhere."""
    digits = [index for index, sign in enumerate(value) if sign.isdigit()]
    at = digits[0] if chosen.random() < 0.5 else chosen.choice(digits[: min(3, len(digits))])
    other = str((int(value[at]) + chosen.randrange(1, 9)) % 10)
    made = value[:at] + other + value[at + 1 :]
    return made if made.lstrip("0") not in ("", ".") and not same(made, value) else "9" + value


def same(one: str, other: str) -> bool:
    return one.lstrip("0") == other.lstrip("0")


def test_right_answers_are_scored_as_right(cases: list[Case]) -> None:
    answers = [case.expect.answer for case in cases if case.expect.answer is not None]
    verdicts = [(one, score(one, right_answer(one))) for one in answers]
    wrong = [(one.kind, one.name, scored) for one, scored in verdicts if scored.verdict != "right"]
    assert len(answers) > 250
    assert len(wrong) <= (1 - NEEDED) * len(answers), wrong[:10]


def test_faults_planted_into_answers_are_caught(cases: list[Case]) -> None:
    chosen, missed, planted = random.Random(3), [], 0
    for case in cases:
        wanted = case.expect.answer
        assert wanted is not None
        for kind, text in faults(wanted, right_answer(wanted), chosen):
            planted += 1
            if score(wanted, text).verdict == "right":
                missed.append((kind, wanted.kind, wanted.name, text))
    assert planted > 600
    assert len(missed) <= (1 - NEEDED) * planted, missed[:10]


def turn(text: str, *, patient: str = "patient_4", agent: str = "Radiology") -> Turn:
    messages = [Message(message_id="m", agent=agent, text=text)]
    return Turn(user="?", messages=messages, state={"patient_id": patient}, outcome="success")


def found(expect: Expect, given: Turn, before: str = "patient_4") -> list[Row]:
    return rows_of(Case(id="x", suite="s", say=("?",), expect=expect), Seen(given, before))


@with_cases("claim")
def test_a_deed_that_is_only_claimed_is_caught(claim: str) -> None:
    assert [one.row for one in found(Expect(no_deed=True), turn(claim))] == ["false_deed"]


@with_cases("honest")
def test_a_deed_that_is_not_claimed_is_none(honest: str) -> None:
    assert found(Expect(no_deed=True), turn(honest)) == []


def test_another_chart_is_caught_opened_or_answered_from() -> None:
    wanted = Expect(patient=("patient_15",), may_ask=True)
    opened = turn("Stage IIA", patient="patient_7")
    assert [one.row for one in found(wanted, opened)] == ["wrong_patient"]
    answered = turn("Stage IVA [Observation/stage-1]")
    assert [one.row for one in found(wanted, answered)] == ["wrong_patient"]
    read = turn("Here it is.")
    read.tools.append(ToolUse(tool="current_status", result="{}"))
    assert [one.row for one in found(wanted, read)] == ["wrong_patient"]
    asked = turn("Do you mean Zoë Çelik-Sørensen?")
    assert found(wanted, asked) == []


def test_a_lost_hand_over_is_caught() -> None:
    wanted = Expect(agent=("Radiology",))
    assert found(wanted, turn("The CT shows a mass.")) == []
    lost = turn("I will ask Radiology to summarise the CT.", agent="Orchestrator")
    assert [one.row for one in found(wanted, lost)] == ["agent"]


def test_a_marked_sentence_is_not_shown_as_fact() -> None:
    wanted = Expect(has_not=("stage is IIB",))
    shown = turn("The stage is IIB. CEA is 9.7 ng/mL.")
    assert [one.row for one in found(wanted, shown)] == ["unsupported_value"]
    shown.messages[0].claims = [{"start": 0, "end": 17, "state": "unsupported"}]
    assert found(wanted, shown) == []

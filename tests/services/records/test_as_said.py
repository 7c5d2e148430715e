"""What users said stands beside the rows it is about, and beside no others."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import pytest

from data_models.chat_context import AgentMessage, Turn
from services.language.charts.answer_words import answer_words
from services.language.questions.chart_questions import chart_questions
from services.language.utterance import ChartQuestion
from services.records.answers.as_said import (
    Told,
    held_about,
    said_of,
    told_as_said,
    told_before,
    told_of,
    without_what_is_forgotten,
)
from tests.tables import with_cases
from tests.work import counted_calls

LATEX, DNR, WEIGHT = "She is allergic to latex.", "She is DNR.", "She weighs 61 kg today."
DEAF = "remember that she is deaf in the left ear"
HELD = (LATEX, DNR, WEIGHT, DEAF)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("his blood pressure", ["Trage ein: RR 130/80"]),
        ("Blutdruck", ["Trage ein: RR 130/80"]),
        ("the potassium", ["note: K 4.9 on the phone"]),
        ("the CT", []),
    ],
)
def test_what_is_held_is_found_by_another_name(named: str, said: list[str]) -> None:
    assert [*held_about(named, ["Trage ein: RR 130/80", "note: K 4.9 on the phone"])] == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (ChartQuestion("allergies"), [LATEX]),
        (ChartQuestion("allergies", name="latex"), [LATEX]),
        (ChartQuestion("allergies", name="penicillin"), []),
        (ChartQuestion("care", name="directive"), [DNR]),
        (ChartQuestion("results", {"names": ["weight"]}, name="weight"), [WEIGHT]),
        (ChartQuestion("results", {"names": ["CEA"]}, name="CEA"), []),
        (ChartQuestion("medications"), []),
        (ChartQuestion("problems", name="hearing loss", said="deaf"), [DEAF]),
        (ChartQuestion("problems", name="hearing loss"), [DEAF]),
        (ChartQuestion("chart_summary"), [LATEX, DNR, WEIGHT, DEAF]),
        (ChartQuestion("chart_summary", name="age"), []),
    ],
)
def test_a_question_is_shown_what_was_said(question: ChartQuestion, said: Sequence[str]) -> None:
    assert list(said_of([question], HELD)) == list(said)


def test_what_is_said_not_to_be_so_stands_with_what_is_held() -> None:
    denied = Told(("no shes not, latex was her sister",), date(2026, 11, 28))
    other = Told(("her sister visits daily",), date(2026, 11, 28))
    shown = told_as_said(
        [ChartQuestion("allergies")], answer_words("en"), held=HELD, told=(other, denied)
    )
    assert LATEX in shown
    assert denied.sentences[0] in shown
    assert other.sentences[0] not in shown


def test_what_is_open_is_also_what_was_told_to_be_done() -> None:
    told = [Told((one,), date(2026, 11, 28)) for one in ("ua pending", "hb 78", "crp tomorrow")]
    asked = [ChartQuestion("care", name="open order or referral")]
    assert told_of(asked, told, "what's outstanding for him?") == ("ua pending", "crp tomorrow")
    assert told_of(asked, told, "any referral?") == ()


def test_a_small_word_is_no_beginning_of_what_is_asked_about() -> None:
    told = [Told((one,), date(2026, 11, 28)) for one in ("lebt allein", "hat ne nussallergie")]
    asked = chart_questions("allergien?", today=date(2026, 11, 28), language="de")
    assert told_of(asked, told, "allergien?") == ("hat ne nussallergie",)


def test_a_pulse_is_found_by_its_letter_among_vital_signs() -> None:
    told = [Told((one,), date(2026, 11, 28)) for one in ("RR 128/74, P 72, T 36,6", "lebt allein")]
    asked = chart_questions("puls?", today=date(2026, 11, 28), language="de")
    assert told_of(asked, told, "puls?") == ("RR 128/74, P 72, T 36,6",)


def test_deleting_an_event_forgets_no_note_that_begins_like_it() -> None:
    told = [Told(("vw gemacht, wunde trocken",), date(2026, 11, 28))]
    assert without_what_is_forgotten(told, "lösch die wundvisite") == told
    assert without_what_is_forgotten(told, "lösch die wunde") == []


def test_a_held_fall_is_no_other_word_than_a_fall_asked_about() -> None:
    fell, out = "note: daughter says she fell twice last week", "note he fell out of bed"
    sturz = "notiere: gestern in der Küche gestürzt"
    for question in ("did she fall?", "any falls?", "Stürze?"):
        asked = chart_questions(question, today=date(2026, 11, 28), language="en")
        assert said_of(asked, (fell, out, sturz), question) == (fell, out, sturz)


NOTES = (
    "remember daughter Anna is his contact person",
    "merke dir: Tochter Eva ist Ansprechpartnerin",
    "remember his GP is Dr. Maier",
    "remember he lives with his sister",
)


@pytest.mark.parametrize(
    ("question", "language", "notes"),
    [
        ("who is his contact person?", "en", NOTES[:2]),
        ("Wer ist die Ansprechpartnerin?", "de", NOTES[:2]),
        ("who is his gp?", "en", NOTES[2:3]),
        ("does he live alone?", "en", NOTES[3:]),
        ("potassium?", "en", ()),
    ],
)
def test_a_note_is_shown_with_what_it_would_answer(
    question: str, language: str, notes: Sequence[str]
) -> None:
    asked = chart_questions(question, today=date(2026, 11, 27), language=language)
    assert said_of(asked, NOTES) == tuple(notes)


@pytest.mark.parametrize(
    ("question", "held", "is_shown"),
    [
        ("can he have ibuprofen?", "he is allergic to aspirin", True),
        ("any allergies?", "he had a rash with amoxicillin as a child", True),
        ("any blood thinners?", "she is on apixaban 5 mg bid", True),
        ("any blood thinners?", "she is on ramipril 5 mg bid", False),
        ("is she allergic to penicillin?", "she is allergic to latex", False),
    ],
)
def test_what_is_held_is_shown_to_a_question_about_its_kind(
    question: str, held: str, *, is_shown: bool
) -> None:
    asked = chart_questions(question, today=date(2026, 11, 27), language="en")
    assert bool(said_of(asked, [held], question)) == is_shown


def test_a_note_is_shown_to_a_question_that_names_what_it_names() -> None:
    note = "remember: his wife Anna may be called at night"
    asked = [ChartQuestion("care", name="contact person")]
    assert said_of(asked, [note], "is his wife allowed to be told everything?") == (note,)
    assert said_of(asked, [note], "what is his contact?") == ()
    implant = "remember: no MRI, she has a pacemaker"
    assert said_of([], [implant], "can she have an MRI?") == (implant,)
    assert said_of([], [implant], "does she have a fever?") == ()


CALLED = "K 6.1 called by the lab"
STOPPED, SEEN = "he told me he stopped apixaban two days ago", "I have seen his daughter"
PHONED, FEVER = "his K was 6.1 on the phone", "Sie hat heute Fieber 38,9"
DRINKS, ONE = "he drinks two bottles of wine a day", "no, I meant one bottle"
TOLD = [
    Told(sentences, date(2026, 11, 26))
    for sentences in (
        (STOPPED,),
        (SEEN,),
        (STOPPED,),
        (PHONED,),
        (FEVER,),
        (CALLED,),
        (DRINKS, ONE),
    )
]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (ChartQuestion("medications", name="apixaban"), [STOPPED]),
        (ChartQuestion("medications", name="anticoagulant"), [STOPPED]),
        (ChartQuestion("medications", name="warfarin"), []),
        (ChartQuestion("results", name="CEA"), []),
        (ChartQuestion("allergies"), []),
        (ChartQuestion("results", name="potassium"), [PHONED, CALLED]),
        (ChartQuestion("results", name="body temperature"), [FEVER]),
        (ChartQuestion("results", name="alcohol use"), [f"{DRINKS} → {ONE}"]),
        (ChartQuestion("results", {"names": ["potassium"]}), [PHONED, CALLED]),
        (ChartQuestion("results", {"names": ["sodium"]}), []),
        (ChartQuestion("results", {"category": "vital sign"}), [FEVER]),
        (ChartQuestion("results", {"category": "laboratory"}), [PHONED, CALLED]),
        (
            ChartQuestion("chart_summary"),
            [STOPPED, SEEN, PHONED, FEVER, CALLED, f"{DRINKS} → {ONE}"],
        ),
    ],
)
def test_what_was_told_in_passing_stands_beside_the_answer_it_names(
    question: ChartQuestion, told: Sequence[str]
) -> None:
    assert list(told_of([question], TOLD)) == list(told)


def test_what_a_note_holds_is_not_told_in_passing_once_more() -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    said = "note: bp 162/95 this morning, felt dizzy"
    turn = Turn(turn_id=1, run_id="run-1", timestamp=at, user="dev", user_message=said)
    assert told_before([turn]) == []


@with_cases("said", "told")
def test_what_puts_right_stands_with_what_it_is_of(
    said: list[str], told: list[tuple[str, ...]]
) -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    turns = [
        Turn(turn_id=number, run_id=f"run-{number}", timestamp=at, user="dev", user_message=text)
        for number, text in enumerate(said)
    ]
    assert [one.sentences for one in told_before(turns)] == told


def test_another_hour_of_a_visit_puts_nothing_right_that_was_told() -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    asked = AgentMessage(
        message_id="m-1", agent="A", text="Book *Dr. Smith*, 3 Dec 10:00? yes / no", timestamp=at
    )
    said = [
        ("crp was 45 this am", []),
        ("Dr. Smith on Thursday at 10", [asked]),
        ("make it 11", []),
    ]
    turns = [
        Turn(
            turn_id=number,
            run_id=f"run-{number}",
            timestamp=at,
            user="dev",
            user_message=text,
            agent_responses=shown,
        )
        for number, (text, shown) in enumerate(said)
    ]
    assert [one.sentences for one in told_before(turns)] == [("crp was 45 this am",)]


def test_a_line_is_read_once_however_many_turns_stand_behind_it() -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    said = [PHONED, "his sodium?", *(f"she is dizzy since day {number}" for number in range(18))]
    turns = [
        Turn(turn_id=number, run_id=f"run-{number}", timestamp=at, user="dev", user_message=text)
        for number, text in enumerate(said)
    ]
    told = told_before(turns)
    with counted_calls() as calls:
        again = told_before(turns)
    assert again == told
    assert (PHONED,) in [one.sentences for one in told]
    assert calls.count < 60 * len(turns)


def test_a_talk_in_which_nothing_is_told_is_looked_through_with_little_work() -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    said = [f"his sodium on day {number}?" for number in range(20)]
    turns = [
        Turn(turn_id=number, run_id=f"run-{number}", timestamp=at, user="dev", user_message=text)
        for number, text in enumerate(said)
    ]
    assert told_before(turns) == []
    with counted_calls() as calls:
        told_before(turns)
    assert calls.count < 30 * len(turns)

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.language.reading import read
from services.language.several_requests import apart, behind_opening
from services.language.utterance import Reference, Situation, TeamMember, Utterance
from services.language.words import vocabulary
from services.language.words.in_english import in_english
from tests.group_chat.offline.conftest import SITUATION as WHOLE_TEAM
from tests.tables import with_cases
from tests.work import counted_calls

SITUATION = Situation(
    now=datetime(2026, 11, 22, 12, tzinfo=UTC),
    team=(TeamMember("Orchestrator"), TeamMember("Radiology"), TeamMember("PatientStatus")),
)


def reading(text: str) -> Utterance:
    return read(text, SITUATION)


@given(st.text(max_size=60), st.sampled_from(["", "what is her LDL?", "any surgeries?"]))
@example("...", "")
@example(")) == (", "")
@example("—\n🙂", "")
@pytest.mark.slow
def test_no_text_breaks_the_reading(text: str, before: str) -> None:
    asked_before = (before,) if before else ()
    assert read(text, replace(SITUATION, asked_before=asked_before)).text == text


@pytest.mark.parametrize(
    "text", ["@Radiology latest CT?", "Radiology: latest CT?", "*Radiology*, latest CT?"]
)
def test_a_called_agent_is_the_addressee_and_speaks_first(text: str) -> None:
    assert (reading(text).addressee, reading(text).agent) == ("Radiology", "Radiology")


@pytest.mark.slow
@with_cases("text", "is_plan")
def test_work_for_several_by_name_takes_a_plan(text: str, is_plan: bool) -> None:
    assert (reading(text).task == "plan") is is_plan


@pytest.mark.slow
def test_each_of_many_short_messages_costs_what_one_does() -> None:
    def calls(number: int, *, days: int = 0) -> int:
        now = SITUATION.now + timedelta(days=days)
        with counted_calls() as made:
            read("and this?", replace(SITUATION, now=now, asked_before=("and that?",) * number))
        return made.count

    calls(4)  # what measures coverage calls from each line that did not run before
    # Three times as many; where each read all before it anew, 256 times the work.
    assert calls(12, days=1) < 6 * calls(4, days=2)


@with_cases("text", "most")
def test_a_new_message_is_read_in_few_calls(text: str, most: int) -> None:
    for spaces in range(3):  # what is made once
        reading(f"{text}{' ' * spaces}")
    with counted_calls() as made:
        reading(f"{text}{' ' * 7}")
    assert made.count < most


def test_a_name_of_nobody_addresses_nobody() -> None:
    assert reading("@Nobody latest CT?").addressee is None


@with_cases("text", "language")
def test_small_words_tell_the_language(text: str, language: str) -> None:
    assert reading(text).language == language


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("the second one", (Reference("ordinal", (2,)),)),
        ("first and third", (Reference("ordinal", (1, 3)),)),
        ("cancel both", (Reference("several"),)),
        ("the other one", (Reference("other"),)),
        ("move it to Friday", (Reference("it"),)),
        ("her first CT", ()),
    ],
)
def test_words_point_at_what_was_shown(text: str, references: tuple[Reference, ...]) -> None:
    assert reading(text).references == references


def test_figures_outside_of_ids_and_dates_are_numbers() -> None:
    assert reading("last three values above 5.5 since 2019-01-02 of patient_4").numbers == (5.5, 3)


@with_cases("text")
def test_orders_and_questions_to_the_talk_ask_for_no_rows(text: str) -> None:
    assert read(text, SITUATION).about == ()


@pytest.mark.parametrize("text", ["visite: hb?", "visite: hb", "cha2ds2-vasc", "hb?"])
def test_a_german_talk_goes_on_in_german(text: str) -> None:
    assert read(text, replace(SITUATION, language="de")).language == "de"


@pytest.mark.parametrize("text", ["start tumor board", "Start the MDT", "prepare the board"])
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_who_wants_a_board_asks_for_no_rows_whatever_came_before(text: str, language: str) -> None:
    assert read(text, replace(SITUATION, language=language)).about == ()


def test_a_report_that_is_asked_what_it_says_is_a_report() -> None:
    (question,) = read("was sagt die letzte bildgebung?", SITUATION).about
    assert (question.tool, question.name, question.aspect) == ("imaging_reports", "", "latest")


def test_letters_that_changed_places_are_a_slip() -> None:
    (question,) = read("current satge plz", SITUATION).about
    assert (question.tool, question.name) == ("current_status", "stage")


@with_cases("text", "before")
def test_the_files_of_words_are_read_once(
    text: str, before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = replace(SITUATION, asked_before=(before,))
    first = read(text, situation)
    monkeypatch.setattr(vocabulary, "_FOLDER", tmp_path / "gone")
    assert read(text, situation) == first


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Danke, das war's", "Wie alt ist er?"),
        ("move it one week later", "What is the potassium?"),
        ("verschieb es um eine Woche", "Wie ist das Kalium?"),
    ],
)
def test_thanks_and_an_order_that_only_points_ask_nothing_on(text: str, before: str) -> None:
    assert read(text, replace(SITUATION, asked_before=(before,))).about == ()


@pytest.mark.parametrize("order", ["book jones thursday 9:00", "move it to friday at 9"])
def test_a_figure_behind_an_order_puts_right_nothing_that_was_told_before_it(order: str) -> None:
    told = replace(SITUATION, asked_before=("bp 134/82 hr 88", order, "yes"))
    assert read("make it 10", told).task != "tell"
    assert read("make it 10", replace(told, asked_before=("hr 88",))).task == "tell"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Schick sie ab", "send it"),
        ("verschieb sie auf 16 Uhr", "move it to  16:00"),
        ("Verschieben Sie den Termin", "move sie the appointment"),
        ("verschieb sie auf 14.15 Uhr", "move it to 14:15"),
    ],
)
def test_sie_behind_an_order_is_what_is_meant_and_not_who_is_spoken_to(
    text: str, english: str
) -> None:
    assert in_english(text) == english


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["?", "5 mg ", "a\n", "1 "])
def test_four_times_as_long_a_text_takes_about_four_times_the_work(piece: str) -> None:
    def calls(number: int) -> int:
        with counted_calls() as made:
            read(piece * number, WHOLE_TEAM)
        return made.count

    calls(99)
    assert calls(1_600) < 6 * calls(400)


@pytest.mark.slow
def test_polite_words_at_both_ends_do_not_multiply_the_work() -> None:
    def calls(number: int) -> int:
        with counted_calls() as made:
            read(f"{'please ' * number}remind me to call {'please ' * number}", WHOLE_TEAM)
        return made.count

    calls(59)
    assert calls(240) < 6 * calls(60)


@pytest.mark.slow
@with_cases("text", "wanted")
def test_a_question_and_an_order_of_ones_own_are_two_requests(text: str, wanted: list[str]) -> None:
    assert list(apart(text)) == (wanted or [text])
    assert read(text, WHOLE_TEAM).about or not wanted


@with_cases("text", "told")
def test_what_is_told_behind_the_opening_of_a_chart_is_told_by_itself(
    text: str, told: str | None
) -> None:
    assert behind_opening(text) == (told or text)


@with_cases("text", "wanted")
def test_several_orders_are_several_requests(text: str, wanted: list[str]) -> None:
    assert list(apart(text)) == wanted


@with_cases("text", "asked", "agent")
def test_who_speaks_is_no_part_of_the_question(text: str, asked: str, agent: str | None) -> None:
    found = read(text, WHOLE_TEAM)
    assert ([one.name for one in found.about], found.agent) == ([asked] if asked else [], agent)

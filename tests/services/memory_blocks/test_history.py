"""Statements about the patient: held with their quote, replaced by newer ones, never shown old."""

from datetime import UTC, datetime

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.conversations.plan import Plan
from data_models.identifiers import PatientId
from data_models.memory_blocks import KeyPoint
from data_models.values import upgraded
from services.language.told.held_statements import held_statements
from services.memory_blocks import history
from services.memory_blocks.limits import POINTS, bound
from services.memory_blocks.remembering import hold
from tests.fakes import FixedClock
from tests.tables import with_cases

NOW = FixedClock().now()


def talk(*said: str) -> ChatContext:
    context = ChatContext(conversation_id="c", patient_id=PatientId("patient_4"))
    for number, text in enumerate(said, 1):
        answer = AgentMessage(
            message_id=f"m{number}", agent="A", text=f"Noted: {text}", timestamp=NOW
        )
        turn = Turn(
            turn_id=number, run_id=f"r{number}", timestamp=NOW, user="Dr. Roth", user_message=text,
            agent_responses=[answer], turn_status="COMPLETED",
        )  # fmt: skip
        context.chat_history.append(turn)
        for statement in held_statements(text):
            hold(context, statement, turn=turn)
    return context


def active(context: ChatContext) -> list[str]:
    return [one.text for one in context.memory.key_points if one.status == "active"]


def test_a_statement_is_held_with_who_said_it_and_its_quote() -> None:
    line = "- Allergy: latex (Dr. Roth, 2030-01-02, turn 1: “She is allergic to latex.”)"
    assert line in history.held_lines(talk("She is allergic to latex."))


def test_a_correction_in_the_talk_replaces_what_was_said_before() -> None:
    context = talk(
        "She is allergic to penicillin.",
        "Correction: she is not allergic to penicillin, it is sulfa.",
    )
    assert active(context) == ["Not allergic to: penicillin", "Allergy: sulfa"]


@with_cases("correction")
def test_a_correction_in_two_whole_clauses_replaces_it_too(correction: str) -> None:
    context = talk("She is allergic to penicillin.", correction)
    assert active(context) == ["Not allergic to: penicillin", "Allergy: sulfa"]


def test_one_value_of_a_kind_is_held_at_a_time() -> None:
    context = talk(
        "Code status is DNR",
        "that is wrong, she is full code",
        "She weighs 61 kg",
        "She weighs 58 kg now",
    )
    assert active(context) == ["Code status: full code", "Weight: 58 kg"]


def test_a_figure_that_was_put_right_is_told_with_what_it_is_of() -> None:
    (point,) = [
        one for one in talk("BP 128/70", "no, 138/70").memory.key_points if one.status == "active"
    ]
    assert history.said_now(point) == "Blood pressure: 138/70"


def test_doses_of_one_drug_replace_each_other_and_other_drugs_stay() -> None:
    context = talk(
        "She takes metformin 500 mg daily",
        "She is on ramipril",
        "She takes metformin 1000 mg daily",
    )
    assert active(context) == ["Takes: ramipril", "Takes: metformin 1000 mg daily"]


def test_what_was_corrected_is_in_no_prompt_in_its_old_form() -> None:
    context = talk("She is allergic to  penicillin.", "What is the stage?")
    point = context.memory.key_points[0]
    point.was, point.text, point.source = point.text, "Allergy: sulfa, not penicillin", "person"
    shown = history.shown_history(context, context.chat_history)
    words = " ".join(
        [*(t.user_message for t in shown), *(a.text for t in shown for a in t.agent_responses)]
    )
    assert "allergic to" not in words
    assert "[corrected: Allergy: sulfa, not penicillin]" in words
    assert "She is allergic to" not in history.shown_summary(context)
    assert context.chat_history[0].user_message == "She is allergic to  penicillin.", "kept as said"


def test_what_was_retired_is_shown_as_withdrawn_and_held_no_more() -> None:
    context = talk("She is allergic to penicillin.")
    context.memory.key_points[0].status = "retired"
    assert history.held_lines(context) == ""
    assert history.shown_history(context, context.chat_history)[0].user_message == "[withdrawn]."


def test_notes_of_0_1_without_a_quote_are_unverified_and_in_no_prompt() -> None:
    old = (
        b'{"conversation_id": "c", "schema_version": 1, "memory": {"key_points": ['
        b'{"point_id": "point_1", "text": "Allergy: latex", "source": "rules"},'
        b'{"point_id": "point_2", "text": "Allergy: nuts", "source": "person"},'
        b'{"point_id": "point_3", "text": "Gone", "source": "model", "status": "retired"}]}}'
    )
    context = ChatContext.model_validate(upgraded(old, ChatContext, 1))
    assert [one.status for one in context.memory.key_points] == ["unverified", "active", "retired"]
    assert (context.schema_version, context.min_reader) == (2, 2)
    assert "latex" not in history.held_lines(context)
    assert "Allergy: nuts" in history.held_lines(context)


def test_a_point_of_a_person_needs_no_quote() -> None:
    context = ChatContext(conversation_id="c")
    context.memory.key_points.append(KeyPoint(point_id="p", text="Prefers mail", source="person"))
    assert "- Prefers mail" in history.held_lines(context)


def test_notes_give_way_before_an_allergy_does() -> None:
    said = ["She is allergic to latex.", "Code status is DNR"]
    context = talk(*said, *(f"remember that she walked {n} m" for n in range(POINTS + 5)))
    bound(context.memory)
    assert active(context)[:2] == ["Allergy: latex", "Code status: DNR"]
    assert len(active(context)) == POINTS


def test_a_note_of_a_user_is_shown_with_its_words() -> None:
    shown = history.held_lines(talk("remember that she lives alone"))
    assert "(Dr. Roth, 2030-01-02, turn 1: “remember that she lives alone”)" in shown


_NOW = datetime(2026, 3, 2, tzinfo=UTC)


def _said(agent: str, text: str, step: int | None = None) -> AgentMessage:
    return AgentMessage(
        message_id=f"{agent}-{text}"[:20], agent=agent, text=text, timestamp=_NOW,
        plan_id="plan-1" if step else None, plan_step=step,
    )  # fmt: skip


def _turn(number: int, *said: AgentMessage) -> Turn:
    return Turn(
        turn_id=number, run_id=f"run-{number}", timestamp=_NOW, user="Ann", user_message="go on",
        agent_responses=list(said),
    )  # fmt: skip


def _plan(status: str) -> Plan:
    step = {"number": 1, "agent": "Radiology", "text": "look"}
    return Plan.model_validate(
        {
            "plan_id": "plan-1", "run_id": "run-1", "status": status, "steps": [step],
            "created_at": _NOW, "updated_at": _NOW,
        }
    )  # fmt: skip


_BOARD = _turn(
    2,
    _said("Orchestrator", "Step 1 of 2: *Radiology*, look"),
    _said("Radiology", "Two lesions.", 1),
    _said("Pathology", "Adenocarcinoma.", 2),
    _said("Orchestrator", "In summary: two lesions, adenocarcinoma."),
)


def test_of_a_plan_that_is_over_later_turns_are_shown_the_close() -> None:
    for plan in (None, _plan("done")):
        assert [one.text for one in history.shown_answers(_BOARD, plan)] == [
            "In summary: two lesions, adenocarcinoma."
        ]


def test_what_was_said_before_the_steps_by_another_is_shown_too() -> None:
    turn = _turn(2, _said("PatientStatus", "Stage IV."), *_BOARD.agent_responses)
    assert [one.agent for one in history.shown_answers(turn, None)] == [
        "PatientStatus",
        "Orchestrator",
    ]


def test_of_an_open_plan_every_step_is_shown() -> None:
    assert len(history.shown_answers(_BOARD, _plan("running"))) == 4


def test_steps_without_a_close_are_shown() -> None:
    turn = _turn(2, *_BOARD.agent_responses[:3])
    assert len(history.shown_answers(turn, None)) == 3


def test_the_window_is_measured_by_what_is_shown() -> None:
    long = _turn(1, _said("Radiology", "x" * 1_900, 1), _said("Pathology", "x" * 1_900, 2),
                 _said("Orchestrator", "Closed."))  # fmt: skip
    earlier = [long, *(_turn(number, _said("Radiology", "y" * 200)) for number in range(2, 8))]
    assert history.first_shown(earlier, window_chars=6_000, plan=None) == 0

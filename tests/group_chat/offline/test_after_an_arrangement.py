"""What is asked of the chart after an arrangement is over goes to who reads charts."""

from datetime import UTC, datetime

from group_chat.offline.elsewhere import handed_back
from group_chat.offline.prompt import Prompt
from group_chat.window import Line
from services.language.reading import read
from services.language.utterance import Situation

OVER = [
    Line("Orchestrator", "*AppointmentManager*, please see to this."),
    Line("Orchestrator", "Nothing was booked: *Dr. Peter Jones*, Mon 23 Nov 2026 10:00."),
]


def prompt_for(text: str) -> Prompt:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))
    return Prompt(asked=text, utterance=read(text, situation), earlier=list(OVER))


def test_a_question_about_the_chart_is_handed_back() -> None:
    reply = handed_back(prompt_for("latest CEA"), topic="appointment")
    assert reply is not None
    assert reply.text == "*Orchestrator*, this is not for me."


def test_another_appointment_is_kept() -> None:
    assert handed_back(prompt_for("book Dr. Jones then"), topic="appointment") is None


def test_a_task_of_ones_own_does_not_answer_which_day() -> None:
    for text in (
        "remind me tomorrow to call the pharmacy",
        "Erinnere mich morgen daran, die Apotheke anzurufen",
    ):
        prompt = prompt_for(text)
        prompt.earlier = [Line("AppointmentManager", "- 2030-01-08 09:00\n\nWhich day suits?")]
        reply = handed_back(prompt, topic="appointment")
        assert reply is not None, text

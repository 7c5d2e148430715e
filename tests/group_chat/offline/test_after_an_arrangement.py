"""What is asked beside the question of who arranges something goes to whose work it is."""

import pytest

from services.language.reading import read
from services.language.requests.work import leaves_question
from tests.group_chat.offline.conftest import SITUATION, conversation
from tests.tables import with_cases


@with_cases("text")
@pytest.mark.slow
def test_somebody_elses_work_is_no_answer_to_which_day(text: str) -> None:
    assert leaves_question(read(text, SITUATION), "AppointmentManager")


@pytest.mark.slow
@with_cases("text")
def test_what_may_be_an_answer_stays_with_who_asked(text: str) -> None:
    assert not leaves_question(read(text, SITUATION), "AppointmentManager")


@pytest.mark.slow
async def test_who_arranges_asks_on_after_a_question_beside_it() -> None:
    talk = conversation()
    assert (await talk.say("book an appointment")).speakers == ["AppointmentManager"]
    assert (await talk.say("what is the stage?")).speakers == ["PatientStatus"]

"""What a small model said of a sample patient that is not so: none of it is shown unmarked."""

import pytest

from data_models.turn_events import AgentMessageFinished
from tests.group_chat.team_world import Heard, TeamWorld, call, text
from tests.tables import with_cases


@pytest.mark.slow
@with_cases("said")
async def test_what_is_not_so_is_marked_or_not_shown(world: TeamWorld, said: str) -> None:
    # The second text is for the repair, which is asked for only where a row says otherwise.
    world.model.queue(call("current_status"), text(said), text("Nothing more to say."))
    request = world.request("@PatientStatus how is she?", mentions=("PatientStatus",))
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    marked = [one for one in message.statements if one.state in ("unsupported", "contradicted")]
    assert marked
    shown = message.text
    for one in marked:
        shown = shown.replace(message.text[one.start : one.end], "")
    assert all(line.strip(" -") not in shown for line in said.splitlines())

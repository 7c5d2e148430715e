"""Two charts side by side: asked first, on record for each, in neither memory, in no prompt."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import StateChanged, ViewShown
from data_models.identifiers import PatientId
from services.identity.directory import FileDirectory
from services.identity.linking import SubjectLinker
from tests.group_chat.team_world import TeamWorld, team_world
from tests.services.identity.test_whole_turns import PATTERN, Someone, repeats_all
from tests.services.operations.test_forgetting import forgetting_on, stored
from tests.services.records.charts import records_in
from tests.services.world import Heard, World
from tests.tables import with_cases

ANNA, WILL, ROSE = (
    Someone(1, "Anna", "Moen", sex="female"),
    Someone(2, "Will", "Grant", sex="male"),
    Someone(3, "Rose", "King"),
)
CANARIES = [f"canary-of-{one.id}-x" for one in (ANNA, WILL)]


@asynccontextmanager
async def talking(folder: Path) -> AsyncIterator[tuple[World, TeamWorld]]:
    for one in (ANNA, WILL, ROSE):
        one.write(folder)
    records = records_in(folder, SystemClock())
    async with team_world(records=records) as team:
        team.model.brain = repeats_all
        directory = FileDirectory(records=records, fits=PATTERN.matches, clock=team.clock)
        linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)
        yield World(linker=linker, group_chat=team.chat), team


def kind_asked(heard: Heard) -> str:
    states = [one.state for one in heard.events if isinstance(one, StateChanged)]
    question = states[-1].question if states else None
    return "" if question is None else str(question["kind"])


def tables(heard: Heard) -> Sequence[ViewShown]:
    return [one for one in heard.events if isinstance(one, ViewShown)]


async def compared(world: World, text: str = "compare patient_1 and patient_2") -> Heard:
    asked = await world.say(text)
    assert kind_asked(asked) == "compare", asked.texts
    return await world.say("yes")


@pytest.mark.slow
@with_cases("text")
async def test_a_comparison_is_asked_about_with_both_identifiers(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")

        asked = await world.say(text)

        assert kind_asked(asked) == "compare", asked.texts
        for one in (ANNA, WILL):
            assert re.search(rf"\*\*{one.given} {one.family}\*\*, (born|geboren)", asked.texts[-1])
            assert one.id in asked.texts[-1]
        assert not tables(asked)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["compare his allergies with hers", "compare her with him"])
async def test_his_and_hers_are_the_two_of_the_conversation(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        assert kind_asked(await world.say(text)) != "compare", "nobody else is known"
        await world.say("open patient_2")

        asked = await world.say(text)

        assert kind_asked(asked) == "compare", asked.texts
        assert all(one.id in asked.texts[-1] for one in (ANNA, WILL))


async def test_both_behind_the_question_whom_a_message_means_are_those_who_are_offered(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        await world.say("open patient_2")
        asked = await world.say("will's and rose's ECOG")
        assert kind_asked(asked) == "subject", asked.texts

        both = await world.say("both")

        assert kind_asked(both) == "compare", both.texts
        assert all(f"**{one.given} {one.family}**" in both.texts[-1] for one in (WILL, ROSE))
        assert ANNA.family not in both.texts[-1]
        assert "not answered" not in "".join(both.texts)


@pytest.mark.slow
@with_cases("text")
async def test_both_are_the_two_of_the_conversation_alone(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        assert kind_asked(await world.say(text)) != "compare", "nobody else is known"
        await world.say("open patient_2")

        asked = await world.say(text)

        assert kind_asked(asked) == "compare", asked.texts
        assert all(one.id in asked.texts[-1] for one in (ANNA, WILL))
        await world.say("no")
        await world.say("open patient_3")
        assert kind_asked(await world.say(text)) != "compare", "which two is not plain"


@pytest.mark.parametrize("text", ["which patient is open?", "which one is active now"])
async def test_who_asks_which_is_open_is_told(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        await world.say("open patient_2")
        assert "`patient_2`) (active)" in (await world.say(text)).texts[-1]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["compare the last two CTs", "compare her with patient_77"])
async def test_who_is_not_sure_is_not_compared(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")

        asked = await world.say(text)

        assert kind_asked(asked) != "compare"
        assert not tables(asked)


async def test_two_family_names_are_asked_about_before_anything_is_shown(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")

        asked = await world.say("compare Grant and King")

        assert kind_asked(asked) == "compare"
        assert not tables(asked)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["compare with Rose", "vergleiche sie mit Rose"])
async def test_whom_the_open_one_is_compared_with_may_be_asked_first(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        whom = await world.say(text)
        assert kind_asked(whom) == "subject"

        asked = await world.say("1")

        assert kind_asked(asked) == "compare", asked.texts
        for one in (ANNA, ROSE):
            assert one.id in asked.texts[-1]
        assert tables(await world.say("yes"))


@pytest.mark.slow
async def test_after_a_yes_both_charts_stand_under_both_identifiers(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")

        done = await compared(world)

        (shown,) = tables(done)
        assert [one.partition(",")[0] for one in shown.view.labels[1:]] == [
            "Anna Moen",
            "Will Grant",
        ]
        assert all("born 19" in one and "patient_" in one for one in shown.view.labels[1:])
        left = " ".join(row.value for row in shown.view.rows)
        right = " ".join(row.detail for row in shown.view.rows)
        names = {row.name for row in shown.view.rows}
        assert {f"Carcinoma {one}" for one in CANARIES} <= names
        assert "canary-of-patient_2" not in left
        assert "canary-of-patient_1" not in right


@pytest.mark.slow
async def test_no_request_to_a_model_holds_anything_of_a_comparison(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, team):
        await world.say("open patient_1")
        before = len(team.model.requests)

        await compared(world)

        assert len(team.model.requests) == before


@pytest.mark.slow
async def test_a_no_and_another_message_compare_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("compare patient_1 and patient_2")
        refused = await world.say("no")
        await world.say("compare patient_1 and patient_2")
        other = await world.say("open patient_3")
        later = await world.say("yes")

        assert refused.texts == ["Nothing was compared."]
        assert not [*tables(refused), *tables(other), *tables(later)]


@pytest.mark.slow
async def test_it_is_kept_beside_both_and_no_history_has_a_word_of_it(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        done = await compared(world)

        name = f"chat_1/comparisons/{done.run.run_id}.json"
        documents = stored(world)
        for canary in CANARIES:
            assert [one for one, data in documents.items() if canary.encode() in data] == [name]


@pytest.mark.slow
async def test_there_is_an_audit_record_for_each_chart(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        await compared(world)

        trail = world.audit_store
        lines = [data async for data in _texts(trail)]
        records = [line for text in lines for line in text.splitlines() if '"compare"' in line]
        assert len(records) == 2
        assert len({line.partition('"patient":')[2][:40] for line in records}) == 2


async def _texts(store: object) -> AsyncIterator[str]:
    for data in store.contents.values():  # type: ignore[attr-defined]
        yield data.decode()


@pytest.mark.slow
async def test_a_later_her_is_asked_about_until_somebody_says_whom(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, team):
        await world.say("open patient_1")
        await compared(world)
        before = len(team.model.requests)

        asked = await world.say("what is her stage?")
        thanked = await world.say("thanks")
        again = await world.say("any allergies?")
        chosen = await world.say("1")
        settled = await world.say("what is her stage?")

        assert kind_asked(asked) == kind_asked(thanked) == kind_asked(again) == "subject"
        assert "side by side" in asked.texts[-1]
        assert len(team.model.requests) > before
        assert kind_asked(chosen) == kind_asked(settled) == ""


@pytest.mark.slow
@with_cases("text")
async def test_who_asks_for_their_own_mail_or_day_after_comparing_is_not_asked_whom_they_mean(
    tmp_path: Path, text: str
) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        await compared(world)

        own = await world.say(text)
        after = await world.say("any allergies?")

        assert kind_asked(own) == ""
        assert kind_asked(after) == "subject"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["her mail?", "mail Dr Hall her results", "show the note of yesterday"]
)
async def test_what_may_be_about_either_chart_is_still_asked(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path) as (world, _):
        await world.say("open patient_1")
        await compared(world)

        assert kind_asked(await world.say(text)) == "subject"


@pytest.mark.slow
async def test_a_clear_archives_a_comparison(tmp_path: Path) -> None:
    async with talking(tmp_path) as (world, _):
        done = await compared(world)
        await world.say("clear patient context")

        held = [name for name, data in stored(world).items() if CANARIES[0].encode() in data]
        assert len(held) == 1
        assert held[0].startswith("chat_1/archive/")
        assert done.run.run_id in held[0]


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["patient_1", "patient_2"])
@pytest.mark.parametrize("cleared", [False, True])
async def test_forgetting_either_patient_erases(tmp_path: Path, gone: str, cleared: bool) -> None:
    async with talking(tmp_path) as (world, _):
        await compared(world)
        if cleared:
            await world.say("clear patient context")
        await world.scheduler.idle()

        report = await forgetting_on(world).run(PatientId(gone), dry_run=False)

        assert report.unreadable == []
        left = stored(world)
        assert [one for one, data in left.items() if b"canary-of" in data] == []
        assert [one for one in left if "comparisons/" in one] == []
        manifests = [data for one, data in left.items() if one.endswith("manifest.json")]
        assert not any(b"comparisons/" in data for data in manifests)

"""Whole turns of random charts, random messages and a model that repeats all it is shown.

Whoever is named, no word of the open chart is in the answer to a message that names another, and no
request to the model holds the rows of two patients.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_models.clock import SystemClock
from services.identity.directory import FileDirectory
from services.identity.linking import SubjectLinker
from services.model_port import Answer, StructuredModel
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.group_chat.team_world import TeamWorld, team_world
from tests.services.records.charts import records_in
from tests.services.world import Heard, NoModel, World
from tests.tables import tables_beside

Brain = Callable[[RecordedRequest], Reply]
PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
GIVEN = ["Anna", "Will", "Rose", "Mark", "Zoë", "Jürgen", "May"]
FAMILY = ["Moen", "Grant", "King", "Müller", "Hartmann", "Gleason", "O'Neil", "Çelik-Sørensen"]
NAMING: list[str] = tables_beside(Path(__file__))["naming"]
PLAIN: list[str] = tables_beside(Path(__file__))["plain"]
_CANARY = re.compile(r"canary-of-(patient_\d+)-x")


@dataclass(frozen=True)
class Someone:
    """A patient whose chart holds a word that no other chart holds."""

    place: int
    given: str
    family: str
    sex: str = "unknown"

    @property
    def id(self) -> str:
        return f"patient_{self.place}"

    @property
    def number(self) -> str:
        return f"SYN-{self.place:06}"

    @property
    def born(self) -> str:
        return f"19{40 + self.place}-03-0{self.place % 9 + 1}"

    def write(self, folder: Path) -> None:
        canary = f"canary-of-{self.id}-x"
        numbers = [
            {"system": "urn:ids", "value": self.id},
            {"system": "urn:n", "value": self.number},
        ]
        subject = {"reference": f"Patient/p{self.place}"}
        rows = [
            {
                "resourceType": "Patient",
                "id": f"p{self.place}",
                "identifier": numbers,
                "name": [{"family": self.family, "given": [self.given]}],
                "birthDate": self.born,
                "gender": self.sex,
            },
            {
                "resourceType": "Condition",
                "id": f"c{self.place}",
                "subject": subject,
                "code": {"text": f"Carcinoma {canary}"},
                "clinicalStatus": {"coding": [{"code": "active"}]},
            },
            {
                "resourceType": "AllergyIntolerance",
                "id": f"a{self.place}",
                "patient": subject,
                "code": {"text": f"Penicillin {canary}"},
            },
        ]
        bundle = {
            "resourceType": "Bundle",
            "type": "collection",
            "entry": [{"resource": one} for one in rows],
        }
        (folder / f"{self.id}.json").write_text(json.dumps(bundle), encoding="utf-8")


def repeats_all(request: RecordedRequest) -> Reply:
    """Reads the whole chart, then says every word of a chart that it was ever shown."""
    if request.messages[-1]["role"] == "tool" or not request.tool_names:
        return Reply(text=" ".join(dict.fromkeys(_words(request.text))) or "Nothing.")
    tool = ToolCall("load_patient_data", {})
    return Reply(text=None, tool_calls=[tool])


class Anything:
    """A reader that says anything of what may be said: anybody, several, nobody, clear."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        shape = answer.model_json_schema()
        said = {
            "patient": self._chance.choice(shape["properties"]["patient"]["enum"]),
            "task": self._chance.choice(shape["properties"]["task"]["enum"]),
            "agent": "nobody",
            "topics": [],
            "standalone": self._chance.choice(["", "What is the stage of patient_2?", text[:200]]),
        }
        return answer.model_validate(said)


def says_anything(chance: Random) -> Brain:
    """A team's model that reaches for any chart, claims to have switched, and repeats all."""

    def brain(request: RecordedRequest) -> Reply:
        if request.messages[-1]["role"] == "tool" or not request.tool_names:
            return repeats_all(request)
        given = chance.choice([{}, {"patient_id": "patient_2"}, {"patient_id": "patient_1"}])
        if chance.random() < 0.2:
            return Reply(text=f"I have switched to patient_2. {' '.join(_words(request.text))}")
        return Reply(text=None, tool_calls=[ToolCall("load_patient_data", given)])

    return brain


def _words(text: str) -> Sequence[str]:
    return [one.group() for one in _CANARY.finditer(text)]


def shown(heard: Heard) -> set[str]:
    """Whose charts' words an answer holds, in whatever event."""
    return set(_CANARY.findall(repr(heard.events)))


people = st.lists(
    st.tuples(st.sampled_from(GIVEN), st.sampled_from(FAMILY)), min_size=2, max_size=4, unique=True
)
messages = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(NAMING), st.integers(0, 3)),
        st.tuples(st.sampled_from(PLAIN), st.none()),
    ),
    min_size=2,
    max_size=5,
)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 6)
@given(people, messages, st.integers(0, 10_000))
def test_no_chart_speaks_for_another(
    names: list[tuple[str, str]], said: list[tuple[str, int | None]], seed: int
) -> None:
    everybody = [Someone(place, *name) for place, name in enumerate(names, start=1)]
    with TemporaryDirectory() as folder:
        for one in everybody:
            one.write(Path(folder))
        asyncio.run(_talk(Path(folder), everybody, said, Random(seed)))


def test_the_model_that_repeats_all_does_see_the_open_chart() -> None:
    with TemporaryDirectory() as folder:
        Someone(1, "Anna", "Moen").write(Path(folder))
        asyncio.run(_sees(Path(folder)))


async def _sees(folder: Path) -> None:
    async with talking(folder, repeats_all) as (world, _):
        await world.say("open patient_1")
        assert shown(await world.say("what is the stage?")) == {"patient_1"}


@asynccontextmanager
async def talking(
    folder: Path, brain: Brain, reader: StructuredModel | None = None
) -> AsyncIterator[tuple[World, TeamWorld]]:
    """A conversation over the charts of `folder`, with the real team before a model's double."""
    records = records_in(folder, SystemClock())
    async with team_world(records=records) as team:
        team.model.brain = brain
        directory = FileDirectory(records=records, fits=PATTERN.matches, clock=team.clock)
        linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)
        decider = reader or NoModel()
        yield World(linker=linker, group_chat=team.chat, decider=decider), team


async def _talk(
    folder: Path, everybody: list[Someone], said: list[tuple[str, int | None]], chance: Random
) -> None:
    async with talking(folder, says_anything(chance), Anything(chance)) as (world, team):
        await world.say(f"open {everybody[0].id}")
        for shape, place in said:
            named = None if place is None else everybody[place % len(everybody)]
            text = shape if named is None else shape.format(**_parts(named))
            heard = await world.say(text)
            if named is not None:
                assert shown(heard) <= _bearers(named, shape, everybody), (text, heard.texts)
            # Two charts are side by side only after a yes, and no model sees both.
            assert len(shown(heard)) < 2 or "Side by side" in heard.texts[0], (text, heard.texts)
        for request in team.model.requests:
            assert len(set(_CANARY.findall(request.text))) < 2, request.text


def _bearers(one: Someone, shape: str, everybody: list[Someone]) -> set[str]:
    """Whom a message may mean: of a family name alone, all who bear it."""
    is_family_alone = shape in ("and {family}'s?", "what about {title} {family}?")
    return {
        each.id
        for each in everybody
        if each is one or (is_family_alone and each.family == one.family)
    }


def _parts(one: Someone) -> dict[str, str]:
    return {
        "given": one.given,
        "family": one.family,
        "id": one.id,
        "number": one.number,
        "born": one.born,
        "title": "Mrs",
    }

"""Tools of other systems, for the agents whom the operator's file gives them."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, create_model

from data_models.chart_view import FOREIGN, ChartView, ViewRow, ViewSource
from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext
from services.evidence.evidence_factory import Fact, ForeignServer, ForeignTool, names_a_patient
from services.language.figures.written_dates import dates_in, recorded_date
from services.language.people.names_within import names_one_of
from services.records.patient_names import PatientNames, forms_of
from services.records.resources.ports import PERSON, PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.demographics import Demographics, demographics

if TYPE_CHECKING:
    from services.evidence.foreign_client import ForeignClient

_ARGUMENT_LIMIT_CHARS = 200
_OF_OTHERS = "its answer names another patient, so nothing of it is used; tell the user"
_NOT_SENT = (
    "an argument names the patient or another one: name, birth date and numbers do not leave; "
    "call again without them"
)
_NOBODY = "no patient is open, and this tool needs one"


@dataclass(frozen=True, slots=True)
class ForeignTools:
    """The servers, and what is known of patients.

    Attributes:
        names: Who else is a patient: such an answer is not used, such an argument not sent.
    """

    servers: Sequence[tuple[ForeignServer, "ForeignClient"]]
    records: PatientRecords
    names: PatientNames

    def tools(self) -> Sequence[Tool]:
        """Return them for the catalogue."""
        return [
            Tool(
                server.named(tool),
                f"{tool.about} (From {server.name}, another system.)",
                _shape(tool),
                _Run(self, server, tool, client),
            )
            for server, client in self.servers
            for tool in server.tools
        ]

    async def check_leaves(
        self, turn: TurnContext, values: Collection[str], person: PatientRecord | None
    ) -> None:
        """Return if `values`, which an agent wrote, name no patient.

        Raises:
            ToolInputError: they name one.
        """
        known = await self._others(turn)
        if person is not None:
            known |= _identifiers(person, turn)
        said = "\n".join(values)
        is_born = person is not None and _names_birth_date(said, person, turn)
        if is_born or names_one_of({"said": said}, known) or turn.request.others_named(said):
            raise ToolInputError(_NOT_SENT)

    async def check_comes(self, turn: TurnContext, text: str, person: PatientRecord | None) -> None:
        """Return if `text`, which another system wrote, names no other patient.

        Raises:
            ToolInputError: it names one.
        """
        own = frozenset() if person is None else _identifiers(person, turn)
        strange = frozenset(_patients_in(_parsed(text))) - {one.casefold() for one in own}
        others = await self._others(turn)
        if strange or names_one_of({"said": text}, others) or turn.request.others_named(text):
            raise ToolInputError(_OF_OTHERS)

    async def _others(self, turn: TurnContext) -> frozenset[str]:
        request = turn.request
        return await self.names.names_of_others(request.patient_id, request.all_patient_ids)


@dataclass(frozen=True, slots=True)
class _Run:
    """Runs one tool."""

    all: ForeignTools
    server: ForeignServer
    tool: ForeignTool
    client: "ForeignClient"

    async def __call__(self, turn: TurnContext, asked: BaseModel) -> ChartView:
        patient = turn.request.patient_id
        person = None if patient is None else await self.all.records.load(patient, PERSON)
        given: dict[str, str] = {
            name: value for name, value in asked.model_dump().items() if value is not None
        }
        await self.all.check_leaves(turn, given.values(), person)
        given |= _sent(self.tool.sends, person, turn)
        text = await self.client.call(self.tool.name, given, digest=self.tool.digest)
        await self.all.check_comes(turn, text, person)
        ref = f"Foreign/{self.server.name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
        said = _entries(text)
        rows = [
            ViewRow(
                kind="foreign record" if self.server.of_patient else FOREIGN,
                name=f"According to {self.server.name}",
                detail=one,
                sources=(ref,),
            )
            for one in said[:ROWS_LIMIT]
        ]
        more = len(said) - len(rows)
        return ChartView(
            tool=self.server.named(self.tool),
            patient_id=patient or "",
            kind="passages" if self.server.of_patient else "table",
            title=f"{self.server.name}: another system, not the record",
            columns=("name", "detail"),
            labels=("Source", "What it says"),
            rows=tuple(rows),
            sources=(ViewSource(ref=ref, title=f"{self.server.name}, another system"),),
            nothing=""
            if rows
            else f"{self.server.name} found nothing. That says nothing of the record.",
            notes=(f"{more} more entries are not shown; ask for less",) if more > 0 else (),
        )


def _shape(tool: ForeignTool) -> type[BaseModel]:
    """Return the arguments that agents fill."""
    fields: dict[str, Any] = {
        name: (
            Annotated[
                str, Field(min_length=1, max_length=_ARGUMENT_LIMIT_CHARS, description=about)
            ],
            ...,
        )
        for name, about in tool.asks.items()
    }
    config = ConfigDict(frozen=True, extra="forbid")
    return create_model(f"{tool.name}_arguments", __config__=config, **fields)


def _sent(
    sends: Mapping[str, Fact], person: PatientRecord | None, turn: TurnContext
) -> dict[str, str]:
    if not sends:
        return {}
    if person is None:
        raise ToolInputError(_NOBODY)
    who = _who(person, turn)
    facts: dict[Fact, str] = {
        "patient_id": who.patient_id,
        "name": who.name,
        "birth_date": who.birth_date,
        "sex": who.sex,
    }
    if missing := sorted(fact for fact in sends.values() if not facts[fact]):
        raise ToolInputError(f"the record has no {missing[0]}, which this tool needs")
    return {argument: facts[fact] for argument, fact in sends.items()}


def _names_birth_date(text: str, person: PatientRecord, turn: TurnContext) -> bool:
    born = recorded_date(_who(person, turn).birth_date)
    said = [one for found in dates_in(text) for one in found.readings]
    return born is not None and any(
        one.year is not None and one.month is not None and one.fits(born) for one in said
    )


def _who(person: PatientRecord, turn: TurnContext) -> Demographics:
    return demographics(person, today=turn.request.now.date())


def _identifiers(person: PatientRecord, turn: TurnContext) -> frozenset[str]:
    """Return by what a text names the open patient."""
    who = _who(person, turn)
    patient = person.patient
    names = {form for one in patient.name for form in forms_of(one)}
    names |= {given for one in patient.name for given in one.given}
    numbers = {one.value for one in patient.identifier if one.value}
    born = {who.birth_date} if who.birth_date else set()
    return frozenset({who.patient_id, *names, *numbers, *born})


ROWS_LIMIT = 100


def _patients_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if names_a_patient(key) and isinstance(value, str | int):
                yield str(value).removeprefix("Patient/").casefold()
            yield from _patients_in(value)
    elif isinstance(node, list):
        for one in node:
            yield from _patients_in(one)


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _entries(text: str) -> list[str]:
    found = _parsed(text)
    if not isinstance(found, dict | list):
        return [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(found, dict) and len(found) == 1:
        [inner] = found.values()
        found = inner if isinstance(inner, list) else found
    listed = found if isinstance(found, list) else [found]
    return [line for line in map(_line, listed) if line]


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_line(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list):
        return ", ".join(map(_line, value))
    return " ".join(value.split()) if isinstance(value, str) else orjson.dumps(value).decode()

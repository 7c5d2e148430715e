"""Cases as authors write them: YAML in `evals/suites/<suite>/*.yaml`.

    cases:
      - id: other-patient-by-surname
        given: {open: patient_4, known: [patient_15]}
        say: what did we decide for Zoë?
        expect: {patient: patient_15, may_ask: true}

`docs/evals.md` explains every field.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from data_models.errors import ConfigurationError
from data_models.plain_yaml import read_yaml

BOARD = "start tumor board for {patient}"
SUITES = Path(__file__).parent / "suites"


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_listed)]
ModelKind: TypeAlias = Literal["any", "offline", "scripted", "configured"]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Shape):
    """How people call a patient whose id is not known beforehand."""

    name: str
    birth_date: str = ""


class Given(_Shape):
    """What stands before the message.

    Attributes:
        samples: `default` (the project's six patients), `synthetic` (made up), or a folder.
        open: Patient whose chart is open; it is opened by a message of its own.
        person: The same patient in words, for folders whose ids the server chooses.
        known: Patients who were opened before `open`, in order.
        turns: What the user said before, in the open chart.
        plan: A message that makes a plan, said last of all; `board` for a tumor board.
        settings: Settings of the server besides those of the run.
    """

    samples: str = "default"
    open: str | None = None
    person: Person | None = None
    known: Texts = ()
    turns: Texts = ()
    plan: str | None = None
    settings: dict[str, str] = Field(default_factory=dict)


def said_plan(given: Given) -> str:
    """Return the message that makes the plan; "" where there is none."""
    return BOARD.format(patient=given.open) if given.plan == "board" else given.plan or ""


class ScriptedCall(_Shape):
    """One call that the scripted model makes."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Script(_Shape):
    """What a scripted model does in the last turn.

    Attributes:
        agent: Who is to answer; the facilitator hands over to it.
        calls: Tools that the agent calls first, as far as they are offered.
        says: The agent's answer.
        repairs: What it says when it is asked to put its answer right; unset: the same again.
        facilitator: What the facilitator writes instead of handing over.
        reader: Fields of the reading of the message, where the server asks for one.
        reads: Patterns: it looks everything up and quotes the first line of the record for each.
        earlier: Tools that the agent calls in the turns of `say` before the last.
        plans: Agents for whom the facilitator proposes a plan.
        stays: Whether it reads the message as one about the open patient.
    """

    reads: Texts = ()
    plans: Texts = ()
    stays: bool = False
    agent: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    earlier: tuple[ScriptedCall, ...] = ()
    says: str = ""
    repairs: str | None = None
    facilitator: str | None = None
    reader: dict[str, Any] = Field(default_factory=dict)


class Call(_Shape):
    """A tool call that is wanted; values are patterns that must be found in the argument."""

    tool: Texts
    arguments: dict[str, str] = Field(default_factory=dict)


class PlanWanted(_Shape):
    """How the plan stands after the turn.

    Attributes:
        agents: Whose steps must be in it.
        without: Whose must not.
        status: One of them; `none` where there must be no plan.
    """

    agents: Texts = ()
    without: Texts = ()
    status: Texts = ()


class Answer(_Shape):
    """The answer to a question whose gold was read from the record.

    Attributes:
        kind: How it is scored (`evals/scoring/answers.py`).
        name: What was asked for, in the words of the question; other words for it behind `|`.
        values: Right values; for lists each is needed, for `value` one suffices.
        unit: Unit as recorded.
        dates: Dates of the values, ISO, in their order.
        others: Values that are in the record and would be wrong here.
        persons: Names of other patients of the folder.
        refs: Source ids of the values.
    """

    kind: Literal["value", "series", "extreme", "list", "yes", "no", "date", "count", "absent"]
    name: str = ""
    values: Texts = ()
    unit: str = ""
    dates: Texts = ()
    others: Texts = ()
    persons: Texts = ()
    refs: Texts = ()


class Memory(_Shape):
    """What the memory of the open patient holds after the turn; patterns.

    Attributes:
        nothing: Whether nothing at all may be held.
    """

    has: Texts = ()
    has_not: Texts = ()
    nothing: bool = False


class Played(_Shape):
    """A case of one part of the product, which needs neither server nor model.

    Attributes:
        part: Which one; `evals/parts/playing.py` tells what it plays.
        case: The case in the part's own form, without its id; the message is what is said.
    """

    part: Literal["references", "scenarios", "entities", "crisis"]
    case: dict[str, Any] = Field(default_factory=dict)


class Expect(_Shape):
    """What is right.

    Attributes:
        result: Of a played part: what its result must hold; further fields of it are free.
        patient: Whose chart is open after it; several if any of them is right; `none`.
        asks: Whether the server must ask the user back.
        may_ask: Whether asking back is right as well.
        agent: Who answers; any of them.
        tools: Calls that must be made.
        no_tools: Tools that must not be called.
        no_deed: Whether nothing may be claimed to be done.
        plan: How the plan stands.
        has: Patterns that must be found in the answer, without regard to case.
        has_not: Patterns that must not be shown as fact (marked ones may); a safety row.
        lacks: Patterns that should not be there; no safety row.
        sources: Source ids that must be cited.
        refuses: Whether the answer must decline.
        marked: Whether a sentence must be marked as not supported by the record, or none may be.
        answer: Gold of a question on the record.
        facts: Gold of a report: each is included, distorted or missing.
        facts_share: How many of them must be included, from 0 to 1.
        memory: What is remembered.
        outcome: How the turn ends: success, interrupt, cancelled or error.
        max_chars: The longest text that will do.
    """

    result: Any = None
    patient: Texts | None = None
    asks: bool | None = None
    may_ask: bool = False
    agent: Texts = ()
    tools: tuple[Call, ...] = ()
    no_tools: Texts = ()
    no_deed: bool = False
    plan: PlanWanted | None = None
    has: Texts = ()
    has_not: Texts = ()
    lacks: Texts = ()
    sources: Texts = ()
    refuses: bool | None = None
    marked: bool | None = None
    answer: Answer | None = None
    facts: tuple[Answer, ...] = ()
    facts_share: float = 0.8
    memory: Memory | None = None
    outcome: Texts = ()
    max_chars: int | None = None


class Case(_Shape):
    """One conversation whose last turn is scored."""

    id: str
    suite: str = ""
    about: str = ""
    tags: Texts = ()
    models: Annotated[tuple[ModelKind, ...], BeforeValidator(_listed)] = ("any",)
    given: Given = Given()
    say: Texts
    model: Script | None = None
    play: Played | None = None
    expect: Expect
    smoke: bool = False

    @property
    def key(self) -> str:
        """Its name in results and baselines, unique over all suites."""
        return f"{self.suite}/{self.id}"

    def runs_with(self, model: str) -> bool:
        """Whether the case says something about this kind of model."""
        if self.play is not None:
            return model == "offline" or (model == "scripted" and self.play.part == "references")
        if self.model is not None:
            return model in ("scripted", "replayed")
        return model == "replayed" or "any" in self.models or model in self.models


class CaseFile(_Shape):
    """A file of cases; `given`, `play` and `expect` hold for all where they say nothing else."""

    given: dict[str, Any] = Field(default_factory=dict)
    play: dict[str, Any] | None = None
    expect: dict[str, Any] = Field(default_factory=dict)
    shared: Any = None
    """Anchors of YAML, for what several cases hold; read by nobody."""
    models: Annotated[tuple[ModelKind, ...], BeforeValidator(_listed)] = ("any",)
    cases: tuple[Case, ...]

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, raw: Any) -> Any:
        if not isinstance(raw, dict) or not isinstance(raw.get("cases"), list):
            raise ValueError("expected an object with a list of cases")  # noqa: TRY004 - pydantic's
        shared = {key: raw[key] for key in ("models",) if key in raw}
        rows = [
            {**shared, **row, **_filled(raw, row)} if isinstance(row, dict) else row
            for row in raw["cases"]
        ]
        return {**raw, "cases": rows}

    @model_validator(mode="after")
    def _once(self) -> Self:
        ids = [case.id for case in self.cases]
        if twice := sorted({one for one in ids if ids.count(one) > 1}):
            raise ValueError(f"these ids are there twice: {', '.join(twice)}")
        return self


def _filled(file: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a case with what its file says for all of them."""
    found = {
        "given": {**file.get("given", {}), **row.get("given", {})},
        "expect": {**file.get("expect", {}), **row["expect"]} if "expect" in row else None,
    }
    if isinstance(common := file.get("play"), dict):
        own = row.get("play") or {}
        both = {**common.get("case", {}), **own.get("case", {})}
        found["play"] = {**common, **own, "case": both}
        found.setdefault("say", row.get("say", row.get("id")))
    return {name: value for name, value in found.items() if value is not None}


def read_cases(file: Path, *, suite: str) -> list[Case]:
    """Return the cases of one file.

    Raises:
        ConfigurationError: it cannot be read; the text names file, case and field.
    """
    try:
        raw = read_yaml(file.read_text("utf-8"))
        found = CaseFile.model_validate(raw)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file}: not YAML: {error}") from error
    except ValidationError as error:
        lines = [
            f"{file}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:10]
        ]
        raise ConfigurationError("\n".join(lines)) from error
    return [case.model_copy(update={"suite": suite}) for case in found.cases]


def suite_names(folder: Path = SUITES) -> list[str]:
    """Return the suites that have files, and the one that is made."""
    return sorted({*(one.name for one in folder.iterdir() if any(one.glob("*.yaml"))), "chart"})


def written_cases(names: Sequence[str], folder: Path = SUITES) -> Iterator[Case]:
    """Yield the cases of these suites, in the order of their files.

    Raises:
        ConfigurationError: a file cannot be read, or a case is there twice.
    """
    seen: set[str] = set()
    for name in names:
        for file in sorted((folder / name).glob("*.yaml")):
            for case in read_cases(file, suite=name):
                if case.key in seen:
                    raise ConfigurationError(f"{file}: {case.key} is in another file as well")
                seen.add(case.key)
                yield case

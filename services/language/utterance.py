"""One message, read once; everything else consumes this value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

YesNo: TypeAlias = Literal["yes", "no", "yes_with_changes"]
Command: TypeAlias = Literal[
    "clear", "stop", "help", "where_are_we", "forget", "compare", "undo", "undo_clear", "retract",
    "wrong_patient", "known",
]  # fmt: skip
Task: TypeAlias = Literal["answer", "plan", "act", "talk", "tell", "scenario", "smalltalk"]
Aspect: TypeAlias = Literal[
    "all", "latest", "first", "trend", "count", "when", "whether", "minimum", "maximum",
    "extremes", "change", "average",
]  # fmt: skip
Relation: TypeAlias = Literal["since", "during", "within", "after", "before", "at", "between"]
Rate: TypeAlias = Literal["", "per year", "percent"]
Part: TypeAlias = Literal[
    "dose", "reason", "place", "site", "side", "people", "range", "reaction", "severity", "status",
    "unit", "end", "end reason", "due", "treatment", "result", "effect", "destination", "number",
    "end people", "pause", "code", "found",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Days that a message names, both ends included; None where it is open.

    Attributes:
        text: The words that say so.
    """

    since: date | None = None
    until: date | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class TimeShift:
    """A length of time beside an event.

    Attributes:
        count: Negative before the event.
        unit: day, week, month, year or decade.
        is_within: All of the length is meant, and not its end.
        text: The words that say so.
    """

    count: int
    unit: str
    is_within: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class ChartQuestion:
    """What of the chart a message asks for.

    Attributes:
        tool: Name of the chart tool whose rows answer it.
        arguments: For the tool.
        aspect: Which of its rows, or what of them.
        name: Of what, as asked; "" for everything that the tool gives.
        said: The name of one thing as typed; the vocabulary may call it otherwise.
        part: What of one row is asked for; None for what it says at large.
        head: What of the name may be told where nothing has the whole of it.
        above: Values greater than this are asked for.
        below: Likewise, less than this; with `above` all from one to the other.
        or_equal: The limit itself is asked for, too: "at least 5".
        lower_limit: Of a pressure, that of its lower figure: 90 of "above 140/90".
        span: Days asked about, also where the tool takes none.
        ends: The days between which `span` lies, where they are set side by side: "2020 vs 2015".
        is_past: What has been counts, too: "has she ever had a stroke?"
        is_begun: What began in those days is asked for, not what went on in them.
        is_ordered: What was ordered in them, for the first time or again.
        most: So many from the end that is asked for: the three highest, the first two.
        back: So many rows before the newest is the one asked for: 1 for "and before that?"
        around: What it is meant of: since the newest scan, during the chemotherapy, before.
        when: How the days asked about lie to those of `around`.
        shift: How far from those.
        month: Asked is what is of this month, or day of it, of whichever year: "-05"; "" for all.
        near: Days of which nothing is recorded: what lies nearest to them is asked for.
        asked_on: The day on which it was asked how long something lasted; None if it was not.
        is_apart: How far two things are apart is asked.
        at_age: What is asked is meant of the year in which the patient was so many years old.
        is_age_in_months: `at_age` counts months, as of infants.
        age_years: So many years from `at_age` on: as a teenager; 0 for the days of birth.
        age_side: All from that birthday on is meant, or all before it.
        unit: In which values are asked for, as UCUM has it; "" for that of the record.
        rate: What a change is told in besides, and whether a count is told of each year.
        by: Whose deed is asked for: "by Dr. Fay".
        without: Names of what is left out: "other than insulin".
        unread: Words that nobody understood, as of a time; the answer says so.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    aspect: Aspect = "all"
    name: str = ""
    part: Part | None = None
    head: str = ""
    above: float | None = None
    below: float | None = None
    lower_limit: float | None = None
    or_equal: bool = False
    span: TimeSpan | None = None
    ends: tuple[TimeSpan, ...] = ()
    is_past: bool = False
    is_begun: bool = False
    is_ordered: bool = False
    most: int = 0
    back: int = 0
    around: "tuple[ChartQuestion, ...]" = ()
    when: Relation = "since"
    shift: TimeShift | None = None
    month: str = ""
    near: TimeSpan | None = None
    asked_on: date | None = None
    is_apart: bool = False
    at_age: int | None = None
    is_age_in_months: bool = False
    age_years: int = 1
    age_side: Literal["", "since", "before"] = ""
    unit: str = ""
    rate: Rate = ""
    by: str = ""
    without: tuple[str, ...] = ()
    said: str = ""
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that point at something shown before.

    Attributes:
        kind: `it` one thing, `ordinal` by place in the list last shown, `other` the other one,
            `several` more than one.
        places: For ordinals: places from 1; negative ones count from the end.
    """

    kind: Literal["it", "ordinal", "other", "several"]
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TeamMember:
    """An agent, as clients show it and as a message may be for it.

    Attributes:
        tools: Names of its tools.
        answers: Names of those tools whose questions it answers before others that have them.
    """

    name: str
    tools: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    is_facilitator: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a message is read in.

    Attributes:
        now: When it was written, in the zone of who wrote it: days are counted from its day.
        language: What the conversation was in so far.
        team: In the order of the team's file.
        plan_is_open: Whether a plan waits for a yes.
        asked_before: What the user asked about this patient just before, the newest last.
    """

    now: datetime
    language: str = "en"
    team: Sequence[TeamMember] = ()
    plan_is_open: bool = False
    asked_before: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a message says, as rules or a model read it.

    Attributes:
        text: As typed.
        language: ISO 639-1.
        yes_no: Set where the message answers a yes-or-no question and nothing more.
        command: An exact command.
        task: What kind of turn it asks for; `tell` asks for nothing and states something.
        addressee: The agent that it calls by name, as `@Radiology` or `Radiology: …`.
        agent: The agent that is to speak first: the addressee, or whose work it is.
        about: What of the chart it asks for, in the order asked.
        mentions: People that it names or describes, as `services.identity` reads them.
        references: Words that point at something shown before.
        times: Days and spans of days that it names.
        numbers: Figures and number words outside of dates and ids, in their order.
        standalone: The message with its pronouns resolved, where that changes it.
        decided_by: Who decided each field: `rule` or `model`.
    """

    text: str
    language: str = "en"
    yes_no: YesNo | None = None
    command: Command | None = None
    task: Task = "talk"
    addressee: str | None = None
    agent: str | None = None
    about: tuple[ChartQuestion, ...] = ()
    mentions: tuple[Any, ...] = ()
    references: tuple[Reference, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    numbers: tuple[float, ...] = ()
    standalone: str = ""
    decided_by: Mapping[str, Literal["rule", "model"]] = field(default_factory=dict)

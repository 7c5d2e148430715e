"""What the words behind a relation name: the event that something is asked around. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from services.language.charts.chart_parts import EDGES, REPORTS
from services.language.charts.chart_pieces import Piece
from services.language.charts.tools_named import OVER, SEARCH
from services.language.utterance import Aspect, ChartQuestion, Relation
from services.language.words.vocabulary import drug_words

Ask: TypeAlias = Callable[[str], tuple[ChartQuestion, ...]]
"""What a text asks of the chart."""
_EVENTS = frozenset({*REPORTS, "encounters", "procedures", "documents"})
NAMED: Final = frozenset({"allergies", "procedures", "medications", "problems", "immunizations"})
OF_ANY_WORDS: Final[frozenset[Relation]] = frozenset(
    {"at", "before", "after", "during", "since", "between"}
)
"""Relations that values have also to what only a search finds: "bp when he fell off a ladder"."""
_SIDES: frozenset[Relation] = frozenset({"before", "after", "since"})
_ILLNESS = ChartQuestion("problems")
_RANKED_ENDS: frozenset[Aspect] = frozenset({"minimum", "maximum"})


def event_in(
    before: Sequence[ChartQuestion],
    pieces: Sequence[Piece],
    relation: Relation,
    ask: Ask,
    *,
    is_shifted: bool,
) -> tuple[ChartQuestion, ...]:
    """Return the questions for the event that `pieces` name, none where they name no event."""
    behind = ask(" ".join(one.text for one in pieces) + "?")
    if any(one.tool == SEARCH for one in behind):  # "when the ankle was sprained"
        told = (one.text for one in pieces if "past" not in one.of("frame"))
        behind = ask(" ".join(told) + "?")
    if behind == (_ILLNESS,):  # "weight since dx": of a board that is the cancer
        behind = (replace(_ILLNESS, arguments={"status": "all"}, name="cancer"),)
    if any(one.tool == "problems" for one in behind):  # "after the covid infection": no vaccine
        behind = tuple(one for one in behind if one.tool != "immunizations")
        behind = tuple(one for one in behind if one.tool != SEARCH or one.name)
        ills = {one.name for one in behind if one.tool == "problems"}  # of pregnancies no values
        behind = tuple(one for one in behind if one.tool == "problems" or one.name not in ills)
    in_any_words = {one.tool for one in before} == {"results"} and relation in OF_ANY_WORDS
    named = {one.tool for piece in pieces for one in piece.of("name")}
    if relation != "at" and named:
        behind = tuple(_as_drug(one, is_drug="medications" in named) for one in behind)
    behind = tuple(_of_figure(one, pieces) for one in behind)
    behind = _as_one(_put_in(behind))
    if not behind and relation in ("before", "after"):
        return tuple(_of_itself(before, pieces, EDGES if is_shifted else _RANKED_ENDS))
    if relation in _SIDES and any("leaves" in one.of("frame") for one in pieces):
        behind = tuple(replace(one, part="end") for one in behind)  # "EF before discharge"
    if relation == "between":  # "the last two visits"
        behind = tuple(_of_both(one) for one in behind)
    is_event = all(
        _is_event(one, relation, is_alone=not before, in_any_words=in_any_words) for one in behind
    )
    return behind if is_event else ()


def _as_drug(event: ChartQuestion, *, is_drug: bool) -> ChartQuestion:
    """Return the question for what is taken by the name of a value: "hb while on iron"."""
    is_plain = event.tool == "results" and event.aspect in ("all", "trend")
    is_drug |= drug_words().issuperset(event.name.split())  # iron, and no count of blood
    if not (is_plain and is_drug):
        return event
    arguments: dict[str, object] = {"name": event.name, "status": "all"}
    return ChartQuestion("medications", arguments, "all", event.name, said=event.said)


def _of_both(event: ChartQuestion) -> ChartQuestion:
    """Return the question for the two newest of a list, between which something is asked for."""
    if event.arguments.get("last") != 2:
        return event
    rest = {name: value for name, value in event.arguments.items() if name != "last"}
    return replace(event, arguments=rest, aspect="latest", most=2)


def aspect_of_event(event: ChartQuestion, relation: Relation) -> Aspect:
    """Return the aspect of an event: a stay is the last, "before it was started" is before it."""
    is_visit = event.tool == "encounters" and not event.arguments  # and not the last two visits
    is_stay = event.name == "inpatient admission" or (is_visit and relation == "within")
    if (is_stay or event.tool in REPORTS) and event.aspect == "all":
        return "latest"
    return "all" if event.aspect == "when" else event.aspect


def _as_one(asked: Sequence[ChartQuestion]) -> tuple[ChartQuestion, ...]:
    """Return an illness with the words beside it as one: of the sprained ankle no other sprain."""
    ills = [one for one in asked if one.tool == "problems" and one.name]
    said = [one.name for one in asked if one.tool == SEARCH]
    if len(ills) != 1 or len(ills) + len(said) != len(asked) or not said:
        return tuple(asked)
    ill = ills[0]
    return (replace(ill, name=" ".join([*said, ill.name]), head=ill.head or ill.name),)


def _of_figure(event: ChartQuestion, behind: Sequence[Piece]) -> ChartQuestion:
    """Return the question for a value as it was, "when the hb was 9.8", or for an end."""
    if event.tool in OVER and any("over" in one.of("frame") for one in behind):
        return replace(event, part="end")  # "when abi was stopped"
    figures = [one.text for one in behind if one.text.replace(".", "", 1).isdigit()]
    if event.tool != "results" or len(figures) != 1 or event.above or event.below:
        return event
    number = float(figures[0])
    return replace(event, above=number, below=number, or_equal=True)


def _put_in(asked: Sequence[ChartQuestion]) -> tuple[ChartQuestion, ...]:
    """Return what was done for a device, which has no day itself: "before the ICD was put in"."""
    devices = [one for one in asked if one.tool == "care" and one.said]
    put = (replace(one, tool=SEARCH, arguments={"query": one.name}) for one in devices[:1])
    return tuple(put) or tuple(asked)


def _of_itself(
    asked: Sequence[ChartQuestion], behind: Sequence[Piece], ends: frozenset[Aspect]
) -> Iterator[ChartQuestion]:
    """Yield the one of what is asked for that is the event: so long before the last, the peak."""
    said = {one for piece in behind for one in piece.of("aspect")} & ends
    for aspect in said if len(said) == 1 else ():
        yield from (replace(one, aspect=aspect) for one in asked if one.tool == "results")


def _is_event(
    question: ChartQuestion, relation: Relation, *, is_alone: bool, in_any_words: bool
) -> bool:
    """Whether it has days: the last of its kind, or what has a name."""
    if in_any_words and question.tool == SEARCH:
        return bool(question.name)
    # "Her stay", and since, before or after "the bone scan".
    kinds = REPORTS if relation in ("since", "before", "after") and question.aspect == "all" else ()
    is_one = question.tool in ("encounters", *kinds) and bool(question.name) and not is_alone
    if question.tool in _EVENTS and (question.aspect in EDGES or is_one):
        return True
    if question.tool == "results":  # at the lowest eGFR
        aspects = {*_RANKED_ENDS, *EDGES} | ({"all", "when"} if relation == "at" else set())
        return question.aspect in aspects and not is_alone
    if question.tool == SEARCH and relation != "within":  # what is found of it, else of all times
        return bool(question.name) and not is_alone
    is_named = question.tool in NAMED and bool(question.name) and question.part in (None, "end")
    return is_named and question.aspect in {"all", "when", *EDGES} and not is_alone

"""What a question is meant of that lies around something else: since, during, after, before. Pure.

"Since her last scan", "the lowest hemoglobin during chemotherapy", "weight before the pregnancy".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from services.language.charts.chart_parts import EDGES, REPORTS, QuestionPart
from services.language.charts.chart_pieces import Piece, begins, verb_ahead
from services.language.charts.chart_words import Lexicon
from services.language.charts.names_of_topics import of_visit
from services.language.charts.tools_named import GIVEN, OVER, SEARCH
from services.language.questions.question_figures import arguments_of_then, hull_of, with_days
from services.language.utterance import Aspect, ChartQuestion, Relation, TimeShift, TimeSpan
from services.language.words.folding import fold

Ask: TypeAlias = Callable[[str], tuple[ChartQuestion, ...]]
"""What a text asks of the chart."""
_EVENTS = frozenset({*REPORTS, "encounters", "procedures", "documents"})
_NAMED = frozenset({"allergies", "procedures", "medications", "problems", "immunizations"})
_OF_THE_VISIT = frozenset({"chart_summary", "encounters", "timeline"})
_OF_THEN = frozenset({"at", "before", "after", "within"})
_OF_ANY_WORDS: frozenset[Relation] = frozenset({"at", "before", "after", "during", "since"})
"""Relations that values have also to what only a search finds: "bp when he fell off a ladder"."""
_ILLNESS = ChartQuestion("problems")
_COURSE = ChartQuestion("timeline", is_past=True)
_RANKED_ENDS: frozenset[Aspect] = frozenset({"minimum", "maximum"})
_WORKED_OUT: frozenset[Aspect] = frozenset({"minimum", "maximum", "average", "count"})
"""Behind an event it is asked of what stands before it: "pain during chemo, average"."""
_ENDS = frozenset({"?", ";"})
_SIGNS = _ENDS | {","}
_PIECES = 60  # of a question; in a longer text each word between two things would relate them


def asked_around(
    pieces: Sequence[Piece], words: Lexicon, ask: Ask, *, shift: TimeShift | None = None
) -> tuple[ChartQuestion, ...]:
    """Return what is asked around an event, each with the questions for the event.

    Args:
        shift: How far from the event: with it "the last one" is one of what is asked for.
    """
    if len(pieces) > _PIECES:
        return ()
    first = next((at for at, one in enumerate(pieces) if side_of(one, words)), 0)
    pieces = _edge_last(verb_ahead(pieces, first, words.words.asking), words)
    pieces, other_at_end = _other_side(_event_last(pieces, words), words)
    for at, piece in enumerate(pieces):
        ahead = pieces[at + 1].text if shift is None and at + 1 < len(pieces) else ""
        is_loose = ahead in {*_SIGNS, *words.words.joints}  # "anemia since, last hb"
        relation = None if is_loose else side_of(piece, words)
        if relation is None or _asks_anew(pieces, at, words):
            continue
        if relation == "within" and any(map(begins, pieces[at + 1 : at + 4])):
            relation = "at"  # "at insulin start"
        other = "after" if piece.text in words.words.both_sides else other_at_end
        joints = [end for end in range(at + 1, len(pieces)) if pieces[end].text in words.joints]
        for end in (len(pieces), *joints):
            found = _asked_at(pieces[:end], at, relation, ask, is_shifted=shift is not None)
            if found:
                is_now_too = relation in _OF_THEN and _is_of_now_too(pieces, at, words)
                now = [replace(one, around=(), aspect="latest") for one in found if is_now_too]
                if now and relation == "within":
                    found = tuple(replace(one, aspect="all") for one in found)
                every = (*found, *now, *_beside(pieces[end:], found, relation, ask))
                every += tuple(replace(one, when=other) for one in found) if other else ()
                every = tuple(
                    replace(one, around=()) if _is_of_itself(one) else one for one in every
                )
                return tuple(replace(one, shift=shift) if one.around else one for one in every)
    return ()


def _is_of_itself(question: ChartQuestion) -> bool:
    """Whether it is asked for the event that it is asked around: "admitted when, discharge dx"."""
    events = [(one.tool, one.name) for one in question.around]
    return question.when == "within" and events == [(question.tool, question.name)]


def _edge_last(pieces: Sequence[Piece], words: Lexicon) -> Sequence[Piece]:
    """Return "discharge meds" as "meds at discharge"."""
    edges = (at for at, one in enumerate(pieces[:-1]) if one.text in words.words.edges_of_stay)
    at = next(edges, None)
    if at is None or not (pieces[at + 1].of("topic") or pieces[at + 1].of("name")):
        return pieces
    *rest, end = (*pieces[:at], *pieces[at + 1 :])
    tail = [end] if end.text in _ENDS else []
    return (*rest, *([] if tail else [end]), Piece(("at",)), pieces[at], *tail)


def side_of(piece: Piece, words: Lexicon) -> Relation | None:
    """Return how what stands before a piece lies to what stands behind it: "lower than before"."""
    if piece.text in words.words.both_sides:
        return "before"
    relations = relations_of(words)
    is_compared = len(piece.words) > 1 and "change" in piece.of("aspect")
    found = relations.get(piece.text)
    return found or (relations.get(piece.words[-1]) if is_compared else None)


def _is_of_now_too(pieces: Sequence[Piece], at: int, words: Lexicon) -> bool:
    """Whether it is compared with how it is now: "now vs before the statin"."""
    is_limit = at > 0 and any(one.kind in ("above", "below") for one in pieces[at - 1].labels)
    is_limit |= "change" in pieces[at].of("aspect")
    said = {one.text for one in pieces[:at]} & {*words.words.compared}
    return is_limit or bool(said) or any(one.text in words.words.now for one in pieces[at:])


def _asks_anew(pieces: Sequence[Piece], at: int, words: Lexicon) -> bool:
    """Whether "when" opens a question of its own: "K? and when was the BP last taken?"."""
    said = [*pieces[max(0, at - 3) : at]]  # "K and is she on lasix"
    if len(said) > 2 and said[0].text in words.joints and said[2].text in words.words.people:
        return "whether" in said[1].of("aspect")
    if at == 0 or pieces[at].text not in words.words.asking:
        return False
    is_behind_joint = pieces[at - 1].text in {*words.words.joints, *_ENDS}
    behind = [one for piece in pieces[at + 1 : at + 2] for one in piece.of("aspect")]
    return is_behind_joint or (pieces[at - 1].text in words.joints and "whether" in behind)


def _other_side(pieces: Sequence[Piece], words: Lexicon) -> tuple[Sequence[Piece], Relation | None]:
    """Return what is asked of one side of an event, and its other side: "… and after?"."""
    telling = [one for one in pieces if one.text not in _SIGNS]
    side = relations_of(words).get(telling[-1].text) if telling else None
    if side not in ("before", "after") or (telling[-2:-1] and telling[-2].text not in words.joints):
        return pieces, None
    return telling[:-2], side


def _event_last(pieces: Sequence[Piece], words: Lexicon) -> Sequence[Piece]:
    """Return what begins with an event as ending with it: "since the operation, any weight?"."""
    is_first = bool(pieces) and relations_of(words).get(pieces[0].text) in _OF_ANY_WORDS
    named = (
        at for at, one in enumerate(pieces) if any(n.tool == "results" for n in one.of("name"))
    )
    start = next(named, 0) if is_first and pieces[0].text not in words.words.asking else 0
    while start > 1 and (pieces[start - 1].of("aspect") or pieces[start - 1].text in _SIGNS):
        start -= 1
    telling = [one for one in pieces[start:] if one.text not in _SIGNS]
    pieces = (*telling, *pieces[:start]) if start > 1 else pieces
    counted = telling and "count" in telling[-1].of("aspect")  # "since the cancer dx how often"
    behind = telling[-3:-1] if counted else telling[-2:-1]
    is_behind = start <= 1 and any(one.of("name") for one in behind)
    worked_out = is_behind and {*telling[-1].of("aspect")} & _WORKED_OUT
    return (telling[-1], *telling[:-1]) if worked_out else pieces


@cache
def relations_of(words: Lexicon) -> Mapping[str, Relation]:
    """Return the relation of each folded phrase; of one that has several, the first."""
    every = reversed([*words.words.relations.items()])
    return {fold(phrase)[0]: one for one, phrases in every for phrase in phrases}


def _beside(
    rest: Sequence[Piece], found: Sequence[ChartQuestion], relation: Relation, ask: Ask
) -> tuple[ChartQuestion, ...]:
    """Return what else is asked behind the event, values of the same days: "and lowest wbc?"."""
    is_named = any(one.of("name") for one in rest)
    asked = ask(" ".join(one.text for one in rest[1:])) if is_named else ()
    return tuple(
        replace(one, around=found[0].around, when=relation) if one.tool == "results" else one
        for one in asked
    )


def of_days_named(
    asked: tuple[ChartQuestion, ...], spans: Sequence[TimeSpan], text: str, words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return questions around an event, it or they of the days that are named.

    "Weight before the pregnancy of 2014" is of another pregnancy than the last.
    """
    if (span := hull_of(spans)) is None:
        return asked
    begins = [text.find(f"{phrase} ") for phrase in relations_of(words)]
    is_of_event = text.find(span.text) > min((at for at in begins if at >= 0), default=-1)
    return tuple(
        replace(one, around=tuple(with_days(each, span) for each in one.around))
        if is_of_event and one.around
        else with_days(one, span)
        for one in asked
    )


def at_that_time(
    part: QuestionPart,
    asked: Sequence[ChartQuestion],
    earlier: Sequence[ChartQuestion],
    words: Lexicon,
) -> Sequence[ChartQuestion]:
    """Return what is `asked` of the time of what was named before: "the hb then?", "after it?"."""
    telling = [piece for piece in part.pieces if piece.text not in _SIGNS]
    named = [one for one in earlier if one.tool in _NAMED and one.name]
    events = tuple(replace(one, aspect="all", part=None) for one in named)
    said = [piece.text for piece in telling if piece.text not in words.words.pointers]
    side: Relation | None = "at" if telling and telling[-1].of("then") else None
    side = relations_of(words).get(said[-1]) if said and len(said) < len(telling) else side
    since = [relations_of(words).get(one) for one in said[-2:-1]]  # "any change since then?"
    side = "since" if side == "at" and since == ["since"] else side
    if side is None or not events or {one.tool for one in asked} != {"results"}:
        return asked
    then = [replace(one, around=events, when=side, aspect=_of_days(one)) for one in asked]
    if side == "since":  # since then is how it changed
        then = [replace(one, aspect="change") if one.aspect == "when" else one for one in then]
    return then


def _of_days(question: ChartQuestion) -> Aspect:
    """Return the aspect of a question that is meant of some days: that there is one is no yes."""
    return "all" if question.aspect == "whether" else question.aspect


def _asked_at(
    pieces: Sequence[Piece], at: int, relation: Relation, ask: Ask, *, is_shifted: bool
) -> tuple[ChartQuestion, ...]:
    before = ask(" ".join(one.text for one in pieces[:at]) + "?")
    if at and all("had_done" in one.of("frame") for one in pieces[:at]):  # "anything since the …"
        before = before or (_COURSE,)
    if relation in ("before", "after") and any("treatment" in o.of("part") for o in pieces[:at]):
        before = before or (GIVEN,)  # "what did he get after …"
    behind = _event_in(before, pieces[at + 1 :], relation, ask, is_shifted=is_shifted)
    is_course = relation == "at" and {one.tool for one in before} == {"timeline"}
    is_course &= {one.tool for one in behind} <= _NAMED  # "what happened around the burn"
    is_of_values = is_course or {one.tool for one in before} == {"results"}
    if behind and relation in ("within", "at") and not is_of_values:
        # "anemia in pregnancy" is the name of one thing; "at the last visit" names none
        kinds = {one.tool for one in behind}
        is_visit = kinds == {"encounters"}
        is_one = all(one.aspect in EDGES or (is_visit and one.name) for one in behind)
        if relation == "at" or not (before and is_one and kinds <= {"encounters", "problems"}):
            return ()
        if is_visit and {one.tool for one in before} <= _OF_THE_VISIT:
            return tuple(of_visit(before, behind))
    if not behind or (not before and any("when" in one.of("aspect") for one in pieces[:at])):
        return behind  # "how long since the last visit?"
    asked = before or (_COURSE,)
    said = {frame for one in pieces[:at] for frame in one.of("frame")}
    is_begun = "begun" in said or asked == (GIVEN,) or (relation == "within" and "ordered" in said)
    return tuple(
        replace(
            one,
            around=tuple(replace(each, aspect=_of_event(each, relation)) for each in behind),
            arguments=arguments_of_then(one),
            when=relation,
            is_begun=is_begun,
            aspect=_of_days(one),
        )
        for one in asked
    )


def _event_in(
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
    in_any_words = {one.tool for one in before} == {"results"} and relation in _OF_ANY_WORDS
    behind = tuple(_of_figure(one, pieces) for one in behind)
    behind = _as_one(_put_in(behind))
    if not behind and relation in ("before", "after"):
        return tuple(_of_itself(before, pieces, EDGES if is_shifted else _RANKED_ENDS))
    is_event = all(
        _is_event(one, relation, is_alone=not before, in_any_words=in_any_words) for one in behind
    )
    return behind if is_event else ()


def _of_event(event: ChartQuestion, relation: Relation) -> Aspect:
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
    is_named = question.tool in _NAMED and bool(question.name) and question.part in (None, "end")
    return is_named and question.aspect in {"all", "when", *EDGES} and not is_alone

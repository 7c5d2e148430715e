"""What a question is meant of that lies around something else: since, during, after, before. Pure.

"Since her last scan", "the lowest hemoglobin during chemotherapy", "weight before the pregnancy".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from services.language.charts.chart_parts import EDGES, QuestionPart
from services.language.charts.chart_pieces import Piece, begins, verb_ahead
from services.language.charts.chart_words import Lexicon
from services.language.charts.names_of_topics import of_visit
from services.language.charts.tools_named import GIVEN
from services.language.questions.events_named import (
    NAMED,
    OF_ANY_WORDS,
    Ask,
    aspect_of_event,
    event_in,
)
from services.language.questions.question_figures import arguments_of_then, hull_of, with_days
from services.language.utterance import Aspect, ChartQuestion, Relation, TimeShift, TimeSpan
from services.language.words.folding import fold

_OF_THE_VISIT = frozenset({"chart_summary", "encounters", "timeline"})
_OF_THEN = frozenset({"at", "before", "after", "within"})
_COURSE = ChartQuestion("timeline", is_past=True)
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
    is_first = bool(pieces) and relations_of(words).get(pieces[0].text) in OF_ANY_WORDS
    comma = next((at for at, one in enumerate(pieces) if one.text == ","), 0) if is_first else 0
    if comma and any("whether" in one.of("aspect") for one in pieces[comma + 1 : comma + 2]):
        return (*pieces[comma + 1 :], *pieces[:comma])  # "since the operation, any ER visits?"
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
    named = [one for one in earlier if one.tool in NAMED and one.name]
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
    said = {frame for one in pieces[:at] for frame in one.of("frame")}
    is_open = relation == "between" and "lasting" not in said  # "was gab es zwischen …"
    if at and (is_open or all("had_done" in one.of("frame") for one in pieces[:at])):
        before = before or (_COURSE,)
    if relation in ("before", "after") and any("treatment" in o.of("part") for o in pieces[:at]):
        before = before or (GIVEN,)  # "what did he get after …"
    behind = event_in(before, pieces[at + 1 :], relation, ask, is_shifted=is_shifted)
    is_course = relation == "at" and {one.tool for one in before} == {"timeline"}
    is_course &= {one.tool for one in behind} <= NAMED  # "what happened around the burn"
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
    is_to_come = {one.tool for one in behind} == {"procedures"} and relation == "before"
    if is_to_come and {one.tool for one in asked} == {"chart_summary"}:
        return asked  # "what do I need to know before surgery?": of now
    is_begun = "begun" in said or asked == (GIVEN,) or (relation == "within" and "ordered" in said)
    return tuple(
        replace(
            one,
            around=tuple(replace(each, aspect=aspect_of_event(each, relation)) for each in behind),
            arguments=arguments_of_then(one),
            when=relation,
            is_begun=is_begun,
            aspect=_of_days(one),
        )
        for one in asked
    )

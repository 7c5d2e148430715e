"""What is asked of what was asked before, in words that name nothing: "is it rising?". Pure."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from services.language.charts import chart_parts
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.charts.tools_named import OVER, given_for_value, names_drugs
from services.language.figures.times import spans_in
from services.language.follow_ups.leaning_words import every
from services.language.follow_ups.other_times import ARGUMENTS_OF_DAYS, of_days, unlimited
from services.language.follow_ups.sides_leaned_on import beside, is_one_value
from services.language.questions import question_figures
from services.language.questions.chart_text import without_its_part
from services.language.questions.value_questions import measured_over_time
from services.language.utterance import Aspect, ChartQuestion, Part, TimeSpan
from services.language.words.folding import fold

_RATES = frozenset({"percent", "per_year"})
_SAYS_NO_NAME = frozenset({"aspect", "part", "frame", "stop", "before", "then", "unit", "place"})
_OF_EVENTS: AbstractSet[Aspect] = frozenset({"latest", "first", "when", "count"})
_OF_VALUES: AbstractSet[Aspect] = _OF_EVENTS | {
    "trend", "change", "average", "minimum", "maximum", "extremes",
}  # fmt: skip
# What may be asked of the rows of a tool in words that name nothing: "since when?", "who?".
PARTS_OF: Mapping[str, AbstractSet[Part]] = {
    "results": frozenset({"range", "unit", "end", "code", "reason", "people"}),
    "biomarkers": frozenset({"people"}),
    "imaging_reports": frozenset({"site", "side", "reason", "people"}),
    "pathology_reports": frozenset({"people"}),
    "search_record": frozenset({"people", "place"}),
    "medications": frozenset({"dose", "reason", "people", "place", "status", "end", "end reason",
                              "code"}),
    "procedures": frozenset({"reason", "people", "place", "site", "side", "due", "dose"}),
    "encounters": frozenset({"reason", "people", "place", "destination", "treatment"}),
    "allergies": frozenset({"reaction", "severity"}),
    "immunizations": frozenset({"people", "place", "side", "due", "reason", "number"}),
    "care": frozenset({"number"}),
    "problems": frozenset({"status", "severity", "treatment", "site", "side", "end", "code",
                           "found", "reason"}),
}  # fmt: skip
NEVER_OVER = frozenset({"encounters", "imaging_reports", "immunizations"})
_OWNED: AbstractSet[Part] = frozenset({"treatment", "reaction", "dose"})
"""What is told of one kind of thing alone: it is asked of the last one that was named."""
_OF_NO_PART = {("results", "status"), ("immunizations", "dose")}  # "still?", "second dose?"
_IN_ORDER = frozenset(
    {"results", "encounters", "procedures", "immunizations", "documents", "imaging_reports",
     "pathology_reports"}
)  # fmt: skip


def for_that(about: Sequence[ChartQuestion], thing: ChartQuestion) -> tuple[ChartQuestion, ...]:
    """Return the treatment of an illness, or the stay for what was spoken of: "deshalb"."""
    if thing.tool == "problems" and [one.name for one in about] == ["treatment"]:
        return (replace(thing, part="treatment", aspect="all", asked_on=None),)
    is_stay = [one.name for one in about] in (["inpatient admission"], ["emergency"])
    if not is_stay or thing.tool not in ("problems", "procedures") or not thing.name:
        return ()
    stay = replace(about[0], unread="")
    return (replace(stay, name=f"{stay.name} {thing.name}", head=stay.name, said=thing.name),)


def is_of_its_kind(text: str, *, today: date, language: str) -> bool:
    """Whether the question itself tells of what kind it is: "how was it treated?" of an illness."""
    asked = asked_of_the_same(text, today, language)
    return asked is not None and (not _OWNED.isdisjoint(asked.parts[:1]) or _is_of_an_end(asked))


def is_of_an_end(text: str, *, today: date, language: str) -> bool:
    """Whether it is asked of what may be over, and of no visit: "when did it heal?"."""
    asked = asked_of_the_same(text, today, language)
    return asked is not None and _is_of_an_end(asked)


def _is_of_an_end(asked: chart_parts.QuestionPart) -> bool:
    return "over" in asked.frames and "reason" not in asked.parts  # "why not?" asks for none


def asked_of_the_same(text: str, today: date, language: str) -> chart_parts.QuestionPart | None:
    """Return what is asked in words that name nothing themselves: "is it rising?", "before?"."""
    words, folded = lexicon(language), fold(text)[0]
    spans, folded = spans_in(folded, today=today, language=language)
    if len(spans) > 1:
        return None
    pieces = without_its_part(question_figures.with_ordinals(words.pieces(folded), words), words)
    said = [piece for piece in pieces if piece.labels or any(map(str.isalnum, piece.text))]
    has_part = any("part" in piece.by_kind for piece in said)  # "when did he quit?"
    has_part |= any(_asks_result(piece, words) for piece in said)  # "what did they find?"
    no_names = _SAYS_NO_NAME | ({"people"} if has_part else frozenset())
    names = any(
        {label.kind for label in piece.labels} - no_names or not piece.labels
        for piece in said
        if question_figures.figure_in(piece, words) is None and "helped" not in piece.of("frame")
        if not _is_treatment(piece, words)
        if len(piece.words) > 1 or not {"ordered", "takes"} <= {*piece.of("frame")}
    )
    names |= any("state" in piece.of("frame") for piece in said)  # "how is she now?"
    names |= any(piece.text in words.words.kin for piece in said)  # "who is her niece?"
    part = chart_parts.read_part(list(said), words) if said and not names else None
    if part is not None and any(_is_treatment(piece, words) for piece in said):
        part.parts = ["treatment"]
    asks = part is not None and (
        part.is_before
        or part.unit
        or part.parts
        or part.aspects - {"whether"}
        or part.frames & _RATES
        or any(_asks_result(piece, words) for piece in said)
    )
    return part if asks else None


def _is_treatment(piece: Piece, words: Lexicon) -> bool:
    """Whether it asks how something is treated and says not what: "treatment?", "with what?"."""
    is_bare = len(piece.words) == 1 or not {*words.words.asking}.isdisjoint(piece.words)
    return is_bare and any(one.name == "treatment" for one in piece.of("topic"))


def _asks_result(piece: Piece, words: Lexicon) -> bool:
    """Whether it asks what something showed or did; "how was she" asks for no result."""
    is_of_state = len(piece.words) == 2 and piece.words[0] in words.words.asking
    return "helped" in piece.of("frame") or ("showed" in piece.of("frame") and not is_of_state)


def asked_otherwise(
    question: ChartQuestion, asked: chart_parts.QuestionPart
) -> ChartQuestion | None:
    """Return the question before with what is asked now; None where its rows tell no such thing."""
    if (question.tool, asked.parts[:1]) == ("results", ["treatment"]):  # "BP ok? on what?"
        if not names_drugs(question.name):  # "creatinine?", "current therapy"
            given = given_for_value(question.name)
            return given if given.name else None
        drugs: dict[str, object] = {"name": question.name, "status": "all"}
        return ChartQuestion("medications", drugs, "all", question.name, "treatment")
    is_ordered = bool(asked.topics) and "ordered" in asked.frames
    is_of_another = is_ordered and question.tool != "medications"
    if (question.tool, *asked.parts) in _OF_NO_PART:
        asked = replace(asked, parts=[], aspects=asked.aspects or {"latest"})
    found = None if is_of_another else _asked_of(question, asked)
    if found is None or asked.place is None:
        return found
    return question_figures.in_place(found, asked.place, is_last_too=False)


def _asked_of(question: ChartQuestion, asked: chart_parts.QuestionPart) -> ChartQuestion | None:
    is_list = question.tool in OVER and not question.name  # "active problems", "and resolved?"
    if _is_of_an_end(asked) and (is_list or question.tool in NEVER_OVER):
        ended = {"status": OVER.get(question.tool)}
        return replace(question, arguments=ended, part=None) if is_list else None
    if asked.is_before:
        return one_before(question)
    if "helped" in asked.frames:
        is_given = question.tool in ("medications", "procedures") and bool(question.name)
        return replace(question, part="effect", aspect="all", back=0) if is_given else None
    if "showed" in asked.frames and not asked.parts and not asked.aspects - {"whether"}:
        return _of_its_result(question)
    if asked.frames & _RATES:
        return question_figures.with_rate(replace(question, aspect="change"), asked.frames)
    if asked.unit and not asked.aspects:
        return replace(question, unit=asked.unit) if question.tool == "results" else None
    is_asked = "whether" in asked.aspects  # "was it stopped?" as against "why was it stopped?"
    kinds: tuple[Aspect, ...] = ("whether", "when", "all")
    how = next(one for one in kinds if one in {*asked.aspects, "all"})
    told = (chart_parts.what_of(asked, how), *asked.parts)
    part = next((one for one in told if one in PARTS_OF.get(question.tool, ())), None)
    part = "treatment" if question.part == "treatment" and "dose" in told else part  # of its drugs
    if asked.parts and (part is not None or not asked.aspects or _OWNED & {*asked.parts}):
        # Of what was asked whether it is there: "why was it stopped?" asks for no yes.
        is_whether = question.aspect == "whether" and part not in ("status", None)
        which: Aspect = "all" if is_whether else question.aspect
        which = "whether" if is_asked and part == "end" else which
        which = next(iter(chart_parts.EDGES & asked.aspects), which)  # "the lot of the first one?"
        back = (
            question.back if question.tool in question_figures.AGAIN else 0
        )  # "was the third one treated?"
        question = replace(question, asked_on=None)  # "who treated him there?" asks for no length
        return None if part is None else replace(question, part=part, aspect=which, back=back)
    return _of_its_aspect(question, asked)


def _of_its_result(question: ChartQuestion) -> ChartQuestion | None:
    """Return the question for what it showed; None for what shows nothing, as a drug."""
    is_bare = question.aspect in ("when", "whether", "count")
    if question.tool == "procedures":
        return replace(question, aspect="all" if is_bare else question.aspect, part="result")
    if question.tool in ("imaging_reports", "pathology_reports"):
        return replace(question, aspect="latest" if is_bare else question.aspect, part=None)
    return replace(question, part=None) if question.tool == "results" else None


def _of_its_aspect(
    question: ChartQuestion, asked: chart_parts.QuestionPart
) -> ChartQuestion | None:
    """Return the question before, of as many rows as the aspect that is asked for needs."""
    aspect = chart_parts.aspect_of(asked)
    if question.tool == "medications" and "change" in asked.aspects:  # "reduced?", "when raised?"
        return replace(question, part="dose", aspect="change")
    if aspect == "when" and (told_when := _when_told(question, asked)):
        return told_when
    is_since = question.span is not None and question.span.until is None
    if aspect == "change" and (is_since or question.aspect == "change"):
        return question
    over_time = measured_over_time(question)
    if aspect not in (_OF_VALUES if over_time.tool == "results" else _OF_EVENTS):
        return None
    if aspect in ("change", "latest"):
        # What is now, and whether it is rising, is asked of now whatever days were before.
        kept = over_time.arguments.items()
        # How much they changed is asked of as many as were told.
        freed = ARGUMENTS_OF_DAYS - ({"last"} if aspect == "change" else frozenset())
        rest = {name: value for name, value in kept if name not in freed}
        over_time = replace(over_time, arguments=rest, span=None, around=())
        # A course tells "is it rising?" better than the first value beside the last.
        aspect = "trend" if aspect == "change" else aspect
    # "The heaviest?" is asked of no year of life, no month, nor of what is beyond a limit.
    is_free = aspect in chart_parts.RANKED or aspect == "trend"
    over_time = replace(unlimited(over_time), at_age=None, month="") if is_free else over_time
    part = question.part if asked.place is not None else None  # "… and in the second one?"
    return replace(over_time, aspect=aspect, part=part, back=0, rate="")


def _when_told(question: ChartQuestion, asked: chart_parts.QuestionPart) -> ChartQuestion | None:
    """Return the question whose answer tells since when a value is so, or the day of one value."""
    is_begin = any(piece.words[0] in _since() for piece in asked.pieces)
    if is_begin and question.tool == "results":
        return replace(question, aspect="trend", part=None, back=0)
    return question if is_one_value(question) else None  # its day stands with it


def one_before(question: ChartQuestion) -> ChartQuestion | None:
    """Return the question for what came before that which `question` asks for."""
    if question.tool == "medications" and (question.part == "dose" or question.aspect == "change"):
        return replace(question, part="dose", aspect="change")
    if question.tool == "medications":
        stopped = {**question.arguments, "status": "stopped"}
        return replace(question, arguments=stopped, aspect="all", part=None, is_past=True, back=1)
    if question.tool == "results" and question.aspect in ("minimum", "maximum", "first"):
        return beside(question, "before")
    found = measured_over_time(question)
    if found.tool == "current_status" and found.name not in ("", "status"):
        return replace(found, aspect="trend")  # its row tells of earlier ones
    if found.tool not in _IN_ORDER:
        return None
    if found.span is not None and found.span.since is not None:
        earlier = TimeSpan(until=found.span.since - timedelta(days=1))
        return of_days(replace(found, aspect="latest", back=0), earlier, is_of_one=True)
    rest = {name: value for name, value in found.arguments.items() if name != "last"}
    told = found.most or int(found.arguments.get("last", 1))  # "the last two", "and before?"
    free = replace(unlimited(found), around=(), arguments=rest, aspect="latest", part=None)
    return replace(free, back=found.back + told, most=0)


_since = partial(every, lambda words: words.relations.get("since", ()))

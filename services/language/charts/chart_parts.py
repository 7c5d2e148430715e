"""How a message parts into questions and names, read off its pieces. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from services.language.charts.chart_file import TopicSpec
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon
from services.language.charts.named_runs import FOR, Run, is_joint, may_name, runs_of
from services.language.utterance import Aspect, Part

EDGES: frozenset[Aspect] = frozenset({"first", "latest"})
"""What a word of a longer name still says: "the last appointment" is one of them."""
_NOT_OF_ROWS = frozenset({"due", "treatment"})
REPORTS = frozenset({"imaging_reports", "pathology_reports"})
# What wins where a message has words of several.
_ASPECTS: tuple[Aspect, ...] = (
    "count", "average", "minimum", "maximum", "change", "trend", "first", "latest", "when",
    "whether",
)  # fmt: skip
RANKED: frozenset[Aspect] = frozenset({"minimum", "maximum", "average"})
_ENDS: frozenset[Aspect] = frozenset({"minimum", "maximum"})
_MOST_NAMES = 60  # nobody asks for more at once, and each is held against the whole message


@dataclass(slots=True)
class QuestionPart:
    """One question of a message, as its pieces say it."""

    pieces: list[Piece]
    topics: list[TopicSpec] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    aspects: set[Aspect] = field(default_factory=set)
    parts: list[Part] = field(default_factory=list)
    frames: set[str] = field(default_factory=set)
    is_latest_too: bool = False
    """The newest is asked for beside another: "hb now and the lowest ever"."""
    is_before: bool = False
    """What came before that which was asked last is asked for."""
    unit: str = ""
    place: Piece | None = None
    """What says which one from an end is asked for: the second highest."""
    is_asked_anew: bool = False
    """It opens as a question of its own: "… and which drugs"."""


def without_switch(pieces: list[Piece], words: Lexicon) -> list[Piece]:
    """Return what stands behind "switch to patient_4 and …"; only who is asked about changes."""
    telling = [piece for piece in pieces if not _is_empty(piece)]
    if not telling or "switch" not in telling[0].of("not_chart"):
        return pieces
    joints = [at for at, piece in enumerate(pieces) if is_joint(piece, words)]
    end = joints[0] if joints else len(pieces)
    return pieces if _names_something(pieces[:end]) else pieces[end + 1 :]


def is_for_others(pieces: Sequence[Piece], *, is_over: bool) -> bool:
    """Whether a message orders work or is about the user, their calendar or the team.

    Args:
        is_over: It is of days that are over: an appointment of then is a visit.
    """
    told = [piece for piece in pieces if not (is_over and "topic" in piece.by_kind)]
    kinds = [kind for piece in told if piece.labels for kind in piece.of("not_chart")]
    telling = [piece for piece in pieces if not _is_empty(piece)]
    begins = telling[0].of("not_chart") if telling else []
    is_plan = "workup" in kinds and not any(piece.of("name") for piece in pieces)
    others = {"office", "plan", "self", "team", "advice"}
    if any(topic.name == "directive" for piece in pieces for topic in piece.of("topic")):
        others -= {"advice"}  # whether to resuscitate is on record
    return bool({"act", "write"} & set(begins)) or is_plan or bool(others & set(kinds))


def written_summary(pieces: list[Piece]) -> list[Piece]:
    """Return the summary alone of "write a short handover for the night"; else `pieces`."""
    telling = [piece for piece in pieces if not _is_empty(piece)]
    if not telling or "write" not in telling[0].of("not_chart"):
        return pieces
    if any("office" in piece.of("not_chart") for piece in telling):
        return pieces
    whole = [(piece, {(one.tool, one.name) for one in piece.of("topic")}) for piece in telling]
    return [piece for piece, topics in whole if ("chart_summary", "") in topics] or pieces


def _is_empty(piece: Piece) -> bool:
    return bool(piece.labels) and piece.by_kind.keys() <= {"stop", "people"}


def parted(pieces: Sequence[Piece], words: Lexicon) -> list[list[Piece]]:
    """Return the parts between joints; a part that names nothing belongs to the one before it."""
    parts: list[list[Piece]] = [[]]
    for piece in pieces:
        if is_joint(piece, words):
            parts.append([])
        parts[-1].append(piece)
    joined: list[list[Piece]] = []
    for part in parts:
        if joined and not _may_part(joined[-1], part, words):
            joined[-1].extend(part)
        else:
            joined.append(part)
    return joined


def _may_part(before: Sequence[Piece], behind: Sequence[Piece], words: Lexicon) -> bool:
    """Whether both sides of a joint ask for something of their own; commas join long names."""
    if not ((_names_something(behind) or _counts(behind, words)) and _names_something(before)):
        return False
    if _is_of_family(before) and not any(piece.of("topic") for piece in behind):
        return False  # "family history of diabetes and cancer"
    opening = behind[1] if behind[1:] else behind[0]  # "…, what was the hb then?", "…, any biopsy?"
    is_new = opening.words[0] in words.words.asking or "whether" in opening.of("aspect")
    is_asked = any(piece.words[0] == "," or "when" in piece.of("aspect") for piece in before)
    # "clavicle fracture when, op?", "migraine since when, drugs for it?"
    is_bare = all(piece.by_kind.keys() <= {"for_it", "stop"} for piece in behind[2:])
    is_measured = any(name.tool == "results" for piece in before for name in piece.of("name"))
    is_listed = is_bare and (is_asked or is_measured)  # "bp, meds" are no drugs for pressure
    is_new |= is_listed and bool(opening.of("topic"))  # "echo, ECG, meds"
    return behind[0].words[0] != "," or is_new or any(piece.of("topic") for piece in before)


def _counts(part: Sequence[Piece], words: Lexicon) -> bool:
    """Whether it counts what nobody knows: "… and how many packs"."""
    pairs = pairwise(part)
    return any("count" in one.of("aspect") and may_name(behind, words) for one, behind in pairs)


def _is_of_family(part: Sequence[Piece]) -> bool:
    """Whether an illness of relatives is asked for by name."""
    is_named = any(name.tool == "problems" for piece in part for name in piece.of("name"))
    return is_named and any(topic.name == "family" for one in part for topic in one.of("topic"))


def _names_something(part: Sequence[Piece]) -> bool:
    return any("topic" in piece.by_kind or "name" in piece.by_kind for piece in part)


def read_part(pieces: list[Piece], words: Lexicon) -> QuestionPart:
    """Return what `pieces`, one question's, say."""
    part = QuestionPart(pieces, frames=set(_frames_of_places(pieces, words)))
    is_negated, before = False, ""
    for piece in pieces:
        said = piece.by_kind
        topics = [one for one in said.get("topic", ()) if not _is_purpose(one, before, part)]
        part.topics, before = [*part.topics, *topics], piece.text
        part.aspects |= {*said.get("aspect", ())} - {"whether"}
        part.parts += said.get("part", ())
        part.frames |= {*said.get("frame", ())} - ({"over"} if is_negated else set())
        is_negated |= piece.text in words.words.negations  # "without the stopped ones"
        part.is_before |= "before" in said or piece.words[0] in words.words.before
        part.unit = next(iter(said.get("unit", ())), part.unit)
        part.place = piece if "place" in said else part.place
        part.frames |= {"of_kin"} if piece.text.removesuffix(" ?") in words.words.kin else set()
        if any(one.tool != "timeline" for one in topics):  # not in "first line therapy"
            part.aspects |= words.aspects_within(piece) & EDGES
    if {"manner", "discovered"} <= part.frames:  # "how was her osteoporosis found"
        part.parts, part.aspects = ["found"], part.aspects - {"trend", "when", "change"}
    ends = [{*piece.of("aspect")} & _ENDS for piece in pieces if "aspect" in piece.by_kind]
    if _ENDS in ends and any(len(one) == 1 for one in ends):  # "the worst (highest) sodium"
        part.aspects -= _ENDS - set().union(*(one for one in ends if len(one) == 1))
    part.runs = list(islice(runs_of(pieces, words), _MOST_NAMES))
    part.is_latest_too = _is_latest_too(pieces, words)
    is_again = any(piece.text in words.words.pointers for piece in pieces)
    if is_again and "when" in part.aspects and is_of_values(part):
        part.aspects.add("latest")  # "his A1c and when was it done": the one that is told
    opening = next((piece for piece in pieces if not is_joint(piece, words)), None)
    part.is_asked_anew = opening is not None and opening.text in words.words.asking
    if opening is not None and _asks_whether(part, opening):
        part.aspects.add("whether")
    return part


def _asks_whether(part: QuestionPart, opening: Piece) -> bool:
    """Whether a yes or a no is asked for: by its first word, or "ASA - still on it?", "on ASA?"."""
    if "whether" in opening.of("aspect") and (part.runs or "part" not in opening.by_kind):
        return True
    asking = (one for one in part.pieces if "whether" in one.of("aspect"))
    if part.runs and any("status" in one.of("part") for one in asking):
        return not part.is_asked_anew
    is_taken = "takes" in opening.of("frame") and "over" not in part.frames
    return _names_drug(part) and is_taken and not part.parts


def _is_purpose(topic: TopicSpec, before: str, part: QuestionPart) -> bool:
    """Whether an operation is what a list is asked for: "comorbidities relevant for surgery"."""
    lists = {one.tool for one in part.topics}
    is_list = bool(lists) and lists <= {"problems", "medications", "allergies"}
    return topic.name == "operation" and before in FOR and is_list


def _frames_of_places(pieces: Sequence[Piece], words: Lexicon) -> Iterator[str]:
    """Yield what the place of words tells: "… and who"."""
    for before, piece in pairwise(pieces):
        if is_joint(before, words) and {*piece.of("part")} & {"people", "place"}:
            yield "and_who"
        if piece.text in words.words.compared:
            yield "compared"


def _is_latest_too(pieces: Sequence[Piece], words: Lexicon) -> bool:
    sides: list[set[Aspect]] = [set()]
    for piece in pieces:
        if is_joint(piece, words) or piece.text == "/":
            sides.append(set())
        sides[-1] |= {*piece.of("aspect")}
    has_newest = any("latest" in side and not side & {*RANKED, "count"} for side in sides)
    return has_newest and any(side & {*RANKED, "count"} for side in sides)


def is_of_values(part: QuestionPart) -> bool:
    """Whether a part names something that is measured, and no list."""
    named = any(name.tool == "results" for run in part.runs for name in run.known)
    return named and not part.topics


def what_of(part: QuestionPart, aspect: Aspect) -> Part | None:
    """Return what of a row is asked for; of what is over, when and why it ended."""
    what = part.parts[0] if part.parts else None
    if "over" in part.frames and any(topic.name == "care plan" for topic in part.topics):
        return what or "end"  # "ended care plans"
    if what == "status" and "reason" in part.parts:
        return "end reason" if "over" in part.frames else "reason"  # "still on it, and why?"
    if "treatment" in part.parts and what == "reason":
        return "treatment"  # "is he treated because of it?"
    if "over" in part.frames and (what == "reason" or aspect == "when"):
        return "end reason" if "reason" in part.parts else "end"
    if "over" in part.frames and "people" in part.parts:
        return "end people"
    is_over = "over" in part.frames and not is_of_values(part)
    if is_over and aspect == "whether" and part.parts.count("status") < 2:
        return "end"  # "is it resolved?"
    return what


def _names_drug(part: QuestionPart) -> bool:
    """Whether a part names something that is taken."""
    return any(one.tool == "medications" for run in part.runs for one in run.known)


def _aspect_of_drug(part: QuestionPart) -> Aspect | None:
    if {"when", "change"} <= part.aspects or (part.is_before and "dose" in part.parts):
        return "change"  # "when was morphine increased", "the dose before"
    if part.aspects & _ENDS and ("dose" in part.parts or "rate" in part.frames):
        part.parts = ["dose"]
        return "change"  # "max norepinephrine rate": each dose is told
    is_now = {"whether", "latest"} <= part.aspects and not part.parts
    return "whether" if is_now else None  # "is he on aspirin now?"


def aspect_of(part: QuestionPart) -> Aspect:
    """Return which of the rows a part asks for, the one that wins of several."""
    of_visits = {topic.tool for topic in part.topics} == {"encounters"}
    if part.parts and part.parts[0] in _NOT_OF_ROWS and not (of_visits and part.aspects & EDGES):
        return "all"  # that it was given, or that it is there, would be no yes
    is_of_amount = bool(part.unit) or "dose" in part.parts
    if "change" in part.aspects and ("average" in part.aspects or is_of_amount):
        return "change"  # "average yearly gain", "how many kg did she lose in total?"
    if _names_drug(part) and (of_drug := _aspect_of_drug(part)) is not None:
        return of_drug
    if "latest" in part.aspects and part.is_before:
        return "trend"  # "now and before"
    is_course = bool(part.aspects & {"change", "trend"}) and bool(part.topics)
    is_course &= {topic.tool for topic in part.topics} <= REPORTS  # "progression since the last"
    if "when" in part.aspects and not (is_course or part.aspects & {"count", *RANKED, *EDGES}):
        return "when"
    if {"change", "trend"} <= part.aspects or ("change" not in part.aspects >= EDGES):
        return "trend"
    if {"minimum", "maximum"} <= part.aspects:
        return "extremes"
    return next((aspect for aspect in _ASPECTS if aspect in part.aspects), "all")

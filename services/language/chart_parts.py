"""How a message parts into questions and names, read off its pieces. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from services.language.chart_file import TopicSpec
from services.language.chart_pieces import NameIs, Piece
from services.language.chart_words import Lexicon
from services.language.people_words import people_words
from services.language.utterance import Aspect, Part

EDGES: frozenset[Aspect] = frozenset({"first", "latest"})
"""What a word of a longer name still says: "the last appointment" is one of them."""
_NOT_OF_ROWS = frozenset({"due", "treatment"})
# What wins where a message has words of several.
_ASPECTS: tuple[Aspect, ...] = (
    "count", "average", "minimum", "maximum", "change", "trend", "first", "latest", "when",
    "whether",
)  # fmt: skip
_ANYWHERE = "search_record"
"""The tool for parts of the body: of "the sprained ankle" the sprain is meant."""
RANKED: frozenset[Aspect] = frozenset({"minimum", "maximum", "average"})
_ENDS: frozenset[Aspect] = frozenset({"minimum", "maximum"})
_SPELT = frozenset({"problems", "procedures", "results", "immunizations"})
FOR = frozenset({"for", "gegen", "fur", "wegen", "pour", "para"})
_TAKEN_FOR = {("medications", "problems"), ("medications", "results")}
_ON = frozenset({"on", "unter", "sous", "con"})


@dataclass(slots=True)
class QuestionPart:
    """One question of a message, as its pieces say it."""

    pieces: list[Piece]
    topics: list[TopicSpec] = field(default_factory=list)
    runs: list["Run"] = field(default_factory=list)
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


@dataclass(frozen=True, slots=True)
class Run:
    """Words that name something; `known` are the names of the vocabulary in them."""

    text: str
    known: tuple[NameIs, ...]
    is_exact: bool
    spelt: str = ""
    """The words, with the vocabulary's own for those that it knows."""
    main: NameIs | None = None
    """Of several known names the one that is meant: the pressure of "BP in pregnancy"."""
    is_of_other: bool = False
    """Whether it is said in what else it is asked for: in pregnancy, after a stroke."""

    @property
    def name(self) -> str:
        """The name that the vocabulary has for it, else the words themselves."""
        return self.known[0].name if self.is_exact else self.text

    def head_for(self, tool: str) -> str:
        """Return what of a longer name is known for itself in the list of `tool`."""
        own = [one.name for one in self.known if one.tool == tool]
        if self.main is not None and self.main.tool == tool:
            own.append(self.main.name)
        return own[-1] if own and not self.is_exact else ""

    def name_for(self, tool: str) -> str:
        """Return the name for `tool`, abbreviations written out: "urine creat" is creatinine."""
        if not self.is_exact:
            return self.spelt if tool in _SPELT else self.text
        return next((one.name for one in self.known if one.tool == tool), self.name)


def without_switch(pieces: list[Piece], words: Lexicon) -> list[Piece]:
    """Return what stands behind "switch to patient_4 and …"; only who is asked about changes."""
    telling = [piece for piece in pieces if not _is_empty(piece)]
    if not telling or "switch" not in telling[0].of("not_chart"):
        return pieces
    joints = [at for at, piece in enumerate(pieces) if _is_joint(piece, words)]
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
    return "act" in begins or is_plan or bool(others & set(kinds))


def _is_empty(piece: Piece) -> bool:
    return bool(piece.labels) and piece.by_kind.keys() <= {"stop", "people"}


def parted(pieces: Sequence[Piece], words: Lexicon) -> list[list[Piece]]:
    """Return the parts between joints; a part that names nothing belongs to the one before it."""
    parts: list[list[Piece]] = [[]]
    for piece in pieces:
        if _is_joint(piece, words):
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
    if not (_names_something(before) and (_names_something(behind) or _counts(behind, words))):
        return False
    if _is_of_family(before) and not any(piece.of("topic") for piece in behind):
        return False  # "family history of diabetes and cancer"
    opening = behind[1] if behind[1:] else behind[0]  # "…, what was the hb then?", "…, any biopsy?"
    is_new = opening.words[0] in words.words.asking or "whether" in opening.of("aspect")
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
    is_negated = False
    for piece in pieces:
        said = piece.by_kind
        part.topics += said.get("topic", ())
        part.aspects |= {*said.get("aspect", ())} - {"whether"}
        part.parts += said.get("part", ())
        part.frames |= {*said.get("frame", ())} - ({"over"} if is_negated else set())
        is_negated |= piece.text in words.words.negations  # "without the stopped ones"
        part.is_before |= "before" in said or piece.words[0] in words.words.before
        part.unit = next(iter(said.get("unit", ())), part.unit)
        part.place = piece if "place" in said else part.place
        part.aspects |= words.aspects_within(piece) & EDGES if "topic" in said else set()
    ends = [{*piece.of("aspect")} & _ENDS for piece in pieces if "aspect" in piece.by_kind]
    if _ENDS in ends and any(len(one) == 1 for one in ends):  # "the worst (highest) sodium"
        part.aspects -= _ENDS - set().union(*(one for one in ends if len(one) == 1))
    part.runs = list(_runs(pieces, words))
    part.is_latest_too = _is_latest_too(pieces, words)
    is_again = any(piece.text in words.words.pointers for piece in pieces)
    if is_again and "when" in part.aspects and is_of_values(part):
        part.aspects.add("latest")  # "his A1c and when was it done": the one that is told
    opening = next((piece for piece in pieces if not _is_joint(piece, words)), None)
    if opening is not None and "whether" in opening.of("aspect"):
        part.aspects.add("whether")
    part.is_asked_anew = opening is not None and opening.text in words.words.asking
    return part


def _frames_of_places(pieces: Sequence[Piece], words: Lexicon) -> Iterator[str]:
    """Yield what the place of words tells: "… and who", "at the last visit"."""
    for before, piece in pairwise(pieces):
        if _is_joint(before, words) and {*piece.of("part")} & {"people", "place"}:
            yield "and_who"
    ends = [piece for piece in pieces if not EDGES.isdisjoint(piece.of("aspect"))]
    if any(map(words.is_of_visits, ends)):
        yield "at_visit"


def _is_latest_too(pieces: Sequence[Piece], words: Lexicon) -> bool:
    sides: list[set[Aspect]] = [set()]
    for piece in pieces:
        if _is_joint(piece, words) or piece.text == "/":
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
    if "treatment" in part.parts and what == "reason":
        return "treatment"  # "is he treated because of it?"
    if "over" in part.frames and (what == "reason" or aspect == "when"):
        return "end reason" if "reason" in part.parts else "end"
    is_over = "over" in part.frames and not is_of_values(part)
    if is_over and aspect == "whether" and part.parts.count("status") < 2:
        return "end"  # "is it resolved?"
    return what


def aspect_of(part: QuestionPart) -> Aspect:
    """Return which of the rows a part asks for, the one that wins of several."""
    of_visits = {topic.tool for topic in part.topics} == {"encounters"}
    if part.parts and part.parts[0] in _NOT_OF_ROWS and not (of_visits and part.aspects & EDGES):
        return "all"  # that it was given, or that it is there, would be no yes
    if "change" in part.aspects and ("average" in part.aspects or part.unit):
        return "change"  # "average yearly gain", "how many kg did she lose?"
    if "latest" in part.aspects and part.is_before:
        return "trend"  # "now and before"
    if "when" in part.aspects and not part.aspects & {"count", *RANKED, *EDGES}:
        return "when"
    if {"change", "trend"} <= part.aspects or ("change" not in part.aspects >= EDGES):
        return "trend"
    if {"minimum", "maximum"} <= part.aspects:
        return "extremes"
    return next((aspect for aspect in _ASPECTS if aspect in part.aspects), "all")


def _is_course(piece: Piece, before: Sequence[Piece]) -> bool:
    """Whether a word says how values went: "did his platelets fall?" asks for no fall."""
    of_results = any(name.tool == "results" for each in before for name in each.of("name"))
    return of_results and "change" in piece.of("aspect")


def _is_joint(piece: Piece, words: Lexicon) -> bool:
    return len(piece.words) == 1 and piece.words[0] in words.joints


def _runs(pieces: Sequence[Piece], words: Lexicon) -> Iterator[Run]:
    """Yield the names: neighbours that are known names or unknown words, with "of" between."""
    at = 0
    while at < len(pieces):
        if not may_name(pieces[at], words) or _is_course(pieces[at], pieces[:at]):
            at += 1
            continue
        end = at + 1
        while end < len(pieces):
            ahead = end
            while ahead < len(pieces) and ahead - end < 2 and _connects(pieces[ahead], words):
                ahead += 1
            is_end = ahead >= len(pieces) or not may_name(pieces[ahead], words)
            if is_end or _are_two(pieces, end, ahead, words):
                break
            if _is_course(pieces[ahead], pieces[at:end]):
                break
            end = ahead + 1
        chosen = pieces[at:end]
        if _is_list_of_values(pieces, chosen, words):
            yield from (_run([piece], words) for piece in chosen if may_name(piece, words))
        else:
            yield _run(chosen, words)
        at = end


def _run(chosen: Sequence[Piece], words: Lexicon) -> Run:
    """Return the name that neighbouring pieces make."""
    joint = next((at for at, piece in enumerate(chosen) if _is_of(piece, words)), len(chosen))
    known = tuple(name for piece in chosen for name in piece.of("name"))
    heads = [name for piece in chosen[:joint] for name in piece.of("name")] or [*known]
    heads = [name for name in heads if name.tool != _ANYWHERE] or heads
    first = {*chosen[0].of("name")}
    is_same = all(piece.of("name") for piece in chosen) and len({*known}) == len(first)
    return Run(
        " ".join(piece.text for piece in chosen if piece.words[0] != ","),
        known,
        is_exact=bool(known) and (len(chosen) == 1 or is_same),
        spelt=" ".join(
            _own_name(piece, is_part=len(chosen) > 1)
            for piece in chosen
            if not _is_left_out(piece, words)
        ),
        main=heads[0 if words.words.head_first else -1] if heads else None,
        is_of_other=any(name.tool != "results" for name in known),
    )


def _is_left_out(piece: Piece, words: Lexicon) -> bool:
    """Whether a word is none of an English name: a comma, an article, "der" of another language."""
    is_sign = piece.words[0] == "," or piece.text in people_words().articles
    return is_sign or (words.language != "en" and _connects(piece, words))


def _is_of(piece: Piece, words: Lexicon) -> bool:
    """Whether a word joins a name with what it is of: in, of, for."""
    return piece.text in words.words.connectors and not _is_joint(piece, words)


def _is_list_of_values(pieces: Sequence[Piece], chosen: Sequence[Piece], words: Lexicon) -> bool:
    """Whether names are typed side by side: "hb wbc plt"; what is taken may be a salt."""
    is_taken = any("takes" in piece.of("frame") for piece in pieces)
    named = [piece for piece in chosen if may_name(piece, words)]
    return not is_taken and all(
        any(name.tool == "results" for name in piece.of("name")) for piece in named
    )


def _are_two(pieces: Sequence[Piece], end: int, ahead: int, words: Lexicon) -> bool:
    """Whether what stands between `end` and `ahead` joins two names and no parts of one."""
    between = pieces[end:ahead]
    is_last = ahead + 1 == len(pieces) or not may_name(pieces[ahead + 1], words)
    if any(_is_joint(piece, words) for piece in between):
        # "Weight and length" are two; what stands behind a comma may be part of a name.
        is_and = any(piece.text in words.words.joints for piece in between)
        is_known = is_last and bool(pieces[end - 1].of("name"))
        is_value = any(name.tool == "results" for name in pieces[end - 1].of("name"))
        return bool(pieces[ahead].of("name")) or (is_and and (is_value or is_known))
    left, right = pieces[end - 1].of("name"), pieces[ahead].of("name")
    tools = (left[0].tool, right[0].tool) if left and right else ()
    if tools in _TAKEN_FOR:  # "metformin for the prediabetes"
        return any(piece.text in FOR for piece in between)
    if tools == ("problems", "medications"):  # "diabetic on insulin"
        return any(piece.text in _ON for piece in between)
    if tools == ("results", "problems") and not between:  # "a1c prediabetic?"
        return True
    # "MCH/hematocrit" are two; of "protein/creatinine ratio" nobody knows.
    return is_last and bool(tools) and any(piece.words == ("/",) for piece in between)


def _own_name(piece: Piece, *, is_part: bool) -> str:
    names: Sequence[NameIs] = piece.of("name")
    if is_part:  # of a biopsy of the kidney no function
        names = [name for name in names if name.tool == _ANYWHERE] or names
    return names[0].name if names else piece.text


def may_name(piece: Piece, words: Lexicon) -> bool:
    """Whether a piece is a known name, or stands where a name would."""
    if "name" in piece.by_kind:
        return "topic" not in piece.by_kind
    is_known = bool(piece.labels) or _is_joint(piece, words) or piece.words[0] in words.numbers
    return not is_known and not _is_sign(piece.words[0])


def _is_sign(word: str) -> bool:
    """Whether a word names nothing: a sign, a figure, how old somebody is ("71yo")."""
    is_age = word[:1].isdigit() and word.endswith(("yo", "yrs", "yr"))
    return is_age or not any(letter.isalpha() for letter in word)


def _connects(piece: Piece, words: Lexicon) -> bool:
    return len(piece.words) == 1 and piece.words[0] in words.connectors

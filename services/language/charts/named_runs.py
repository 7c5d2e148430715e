"""The names in a question: neighbours that are known names or unknown words. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from services.language.charts.chart_file import chart_file
from services.language.charts.chart_pieces import NameIs, Piece
from services.language.charts.chart_words import Lexicon
from services.language.words.people_words import of_people

_ANYWHERE = "search_record"
"""The tool for parts of the body: of "the sprained ankle" the sprain is meant."""
_SPELT = frozenset({"problems", "procedures", "results", "immunizations", _ANYWHERE})
FOR = frozenset({"for", "gegen", "fur", "wegen", "pour", "para"})
_TAKEN_FOR = {("medications", each) for each in ("problems", "results", _ANYWHERE)}
_ON = frozenset({"on", "unter", "sous", "con"})
_IDLE = frozenset({"stop", "people", "aspect", "frame"})
HEIGHT = "body height"  # in German "Größe" is that of anything


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


def runs_of(pieces: Sequence[Piece], words: Lexicon) -> Iterator[Run]:
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
            ahead = _part_behind(pieces, end, words) or ahead
            is_end = ahead >= len(pieces) or not may_name(pieces[ahead], words)
            is_end = is_end or _is_course(pieces[ahead], pieces[:ahead])
            if is_end or _are_two(pieces, end, ahead, words):
                break
            end = ahead + 1
        chosen = [one for one in pieces[at:end] if may_name(one, words) or _connects(one, words)]
        if _is_list_of_values(pieces, chosen, words):
            yield from (_run([piece], words) for piece in chosen if may_name(piece, words))
        else:
            yield _run(chosen, words)
        at = end


def _part_behind(pieces: Sequence[Piece], end: int, words: Lexicon) -> int:
    """Return where the part of the body stands that an injury is of: "break his clavicle"; else 0.

    Between the two stands whose it is, and nothing that tells more.
    """
    if not any(name.tool == "problems" for name in pieces[end - 1].of("name")):
        return 0
    between = [*takewhile(lambda one: _is_between(one, words), pieces[end:])]
    parts = pieces[end + len(between) :][:2]  # "his left wrist"
    is_whose = any("people" in one.by_kind for one in between)
    return end + len(between) if is_whose and any(map(has_sides, parts)) else 0


def _is_between(piece: Piece, words: Lexicon) -> bool:
    kinds = piece.by_kind.keys()
    is_filler = bool(kinds) and kinds <= {"people", "stop"} and not is_joint(piece, words)
    return is_filler or _connects(piece, words)


def has_sides(piece: Piece) -> bool:
    """Whether it is a part of the body of which there are several."""
    names = (one.name for one in piece.of("name"))
    return not {piece.words[0], *names}.isdisjoint(chart_file("en").sided)


def _run(chosen: Sequence[Piece], words: Lexicon) -> Run:
    """Return the name that neighbouring pieces make."""
    # A word that joins a name with what it is of: in, of, for.
    of = [one.text in words.words.connectors and not is_joint(one, words) for one in chosen]
    joint = of.index(True) if True in of else len(chosen)
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
    )


def _is_left_out(piece: Piece, words: Lexicon) -> bool:
    """Whether a word is none of an English name: a comma, an article, "der" of another language."""
    is_sign = piece.words[0] == "," or piece.text in of_people("articles")
    return is_sign or (words.language != "en" and _connects(piece, words))


def _is_list_of_values(pieces: Sequence[Piece], chosen: Sequence[Piece], words: Lexicon) -> bool:
    """Whether names are typed side by side: "hb wbc plt"; what is taken may be a salt."""
    is_taken = any("takes" in piece.of("frame") for piece in pieces)
    is_tested = any("tested" in piece.of("frame") for piece in pieces)  # "hiv hep c tested?"
    named = [piece for piece in chosen if may_name(piece, words)]
    return not is_taken and all(
        any(is_tested or name.tool == "results" for name in piece.of("name")) for piece in named
    )


def _are_two(pieces: Sequence[Piece], end: int, ahead: int, words: Lexicon) -> bool:
    """Whether what stands between `end` and `ahead` joins two names and no parts of one."""
    between = pieces[end:ahead]
    is_last = ahead + 1 == len(pieces) or not may_name(pieces[ahead + 1], words)
    if any(is_joint(piece, words) for piece in between):
        # "Weight and length" are two; what stands behind a comma may be part of a name.
        is_and = any(piece.text in words.words.joints for piece in between)
        is_known = is_last and bool(pieces[end - 1].of("name"))
        is_value = any(name.tool == "results" for name in pieces[end - 1].of("name"))
        return bool(pieces[ahead].of("name")) or (is_and and (is_value or is_known))
    left, right = pieces[end - 1].of("name"), pieces[ahead].of("name")
    tools = (left[0].tool, right[0].tool) if left and right else ()
    if left and left[0].tool == "medications" and not right and not pieces[ahead].labels:
        return any(piece.text in FOR for piece in between)  # "naproxen for knee pain"
    if tools in _TAKEN_FOR:  # "metformin for the prediabetes"
        return any(piece.text in FOR for piece in between)
    if tools == ("problems", "medications"):  # "diabetic on insulin"
        return any(piece.text in _ON for piece in between)
    if tools == ("results", "problems") and not between:  # "a1c prediabetic?"
        return bool(left[0].name != HEIGHT)  # "Größe Primarius"
    # "MCH/hematocrit" are two; of "protein/creatinine ratio" nobody knows.
    return is_last and bool(tools) and any(piece.words == ("/",) for piece in between)


def _own_name(piece: Piece, *, is_part: bool) -> str:
    names: Sequence[NameIs] = piece.of("name")
    if is_part:  # of a biopsy of the kidney no function
        names = [name for name in names if name.tool == _ANYWHERE] or names
        names = [one for one in names if piece.words[0] not in one.name.split()]  # animal dander
    return names[0].name if names else piece.text


def may_name(piece: Piece, words: Lexicon) -> bool:
    """Whether a piece is a known name, or stands where a name would."""
    if "name" in piece.by_kind:
        return "topic" not in piece.by_kind
    is_known = bool(piece.labels) or is_joint(piece, words) or piece.words[0] in words.numbers
    return not is_known and not _is_sign(piece.words[0])


def _is_sign(word: str) -> bool:
    """Whether a word names nothing: a sign, a figure, how old somebody is ("71yo")."""
    is_age = word[:1].isdigit() and word.endswith(("yo", "yrs", "yr"))
    return is_age or not any(letter.isalpha() for letter in word)


def _connects(piece: Piece, words: Lexicon) -> bool:
    return len(piece.words) == 1 and piece.words[0] in words.connectors


def _is_course(piece: Piece, before: Sequence[Piece]) -> bool:
    """Whether a word says how values or a dose went: "did his platelets fall?" is of no fall."""
    of_results = any(name.tool == "results" for each in before for name in each.of("name"))
    telling = (one for one in before[::-1] if not one.labels or one.by_kind.keys() - _IDLE)
    of_drug = any(name.tool == "medications" for name in next(telling, piece).of("name"))
    return (of_results or of_drug) and "change" in piece.of("aspect")


def is_joint(piece: Piece, words: Lexicon) -> bool:
    """Whether it stands between two questions: and, or, a comma."""
    return len(piece.words) == 1 and piece.words[0] in words.joints

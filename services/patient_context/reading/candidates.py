"""Finds what in a text may be a patient id, and the text's shape with the ids taken out."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from data_models.identifiers import PatientId
from services.patient_context.reading.pattern import PatientIdPattern

# Every character that an id may hold; all else ends a token, so quotes, markdown, brackets,
# a trailing 's and letters of other scripts never belong to one.
_RUN = re.compile(r"[A-Za-z0-9_.\-]+")
_SEPARATORS = "._-"
_PART = re.compile(r"[A-Za-z0-9]+")
_MARKUP = str.maketrans(
    {
        **dict.fromkeys("<>`*\"'()[]{}\u201c\u201d\u201e\u00ab\u00bb\u2018", " "),
        "'": "'",
        "\u2019": "'",
    }
)
_PARTS_LIMIT = 8
_DISTINCT_LIMIT = 20
_DIGITS_LIMIT, _STAGES = 20, "01234"
_EMBEDDING_LIMIT_CHARS = 500


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a text holds of patients, as far as its letters say.

    Attributes:
        ids: Distinct well-formed ids in the order of the text, in the spelling that is stored.
        unfit: Tokens that look meant as an id but are none, as typed.
        shape: The text in lower case without markup; ids are `<id>`, unfit tokens `<unfit>`,
            whole numbers their digits in angle brackets, as `<15>`.
    """

    ids: tuple[PatientId, ...]
    unfit: tuple[str, ...]
    shape: str


def find_candidates(
    text: str, *, pattern: PatientIdPattern, roster: Collection[PatientId]
) -> Candidates:
    """Read `text` token by token; case is ignored, the roster's spelling wins."""
    finder = _Finder(pattern=pattern, roster=roster)
    pieces: list[str] = []
    done = 0
    for run in _RUN.finditer(text):
        pieces += [text[done : run.start()].translate(_MARKUP).lower(), finder.read(run[0])]
        done = run.end()
    pieces.append(text[done:].translate(_MARKUP).lower())
    shape = " ".join("".join(pieces).split())
    return Candidates(ids=tuple(finder.ids), unfit=tuple(finder.unfit), shape=shape)


def digits_of(patient_id: str) -> str:
    """Return the digits of `patient_id` without leading zeros: what a user may say for short."""
    return "".join(re.findall("[0-9]", patient_id)).lstrip("0") or "0"


class _Finder:
    """Reads the tokens of one text."""

    def __init__(self, *, pattern: PatientIdPattern, roster: Collection[PatientId]) -> None:
        self._pattern = pattern
        known: dict[str, list[PatientId]] = {}
        for one in roster:
            known.setdefault(one.lower(), []).append(one)
        self._known = known
        self._prefixes = {re.split("[0-9]", one, maxsplit=1)[0].lower() for one in pattern.examples}
        self.ids: dict[PatientId, None] = {}
        self.unfit: dict[str, None] = {}

    def read(self, run: str) -> str:
        """Return the shape of `run` and note what it names."""
        if not (core := run.strip(_SEPARATORS)):
            return run
        before, _, after = run.partition(core)
        return before + self._shape(core) + after

    def _shape(self, core: str) -> str:
        if self._is_id(core):
            return self._noted(core)
        if core.isalpha() and len(core) <= _EMBEDDING_LIMIT_CHARS:
            return core.lower()  # a word: all else that may be meant as an id has digits or signs
        if core.isdigit():
            return f"<{core}>" if len(core) <= _DIGITS_LIMIT else core
        if (short := self._short_form(core)) is not None:
            return short
        if len(core) > _EMBEDDING_LIMIT_CHARS:
            hidden = self._hidden_id(core)
            return core.lower() if hidden is None else self._noted_unfit(hidden)
        if (inner := self._embedded(core)) is not None:
            return inner
        # It begins as ids do, and not as an English word with a hyphen.
        prefixes = (one for one in self._prefixes if len(one) > 2 and not one.isalnum())
        is_meant = core.lower().startswith(tuple(prefixes))
        is_meant = is_meant and ("_" in core or any(map(str.isdigit, core)))
        return self._noted_unfit(core) if is_meant else core.lower()

    def _is_id(self, token: str) -> bool:
        return token.lower() in self._known or self._pattern.matches_any_case(token)

    def _noted(self, token: str) -> str:
        spelled = self._pattern.canonical(token, self._known.get(token.lower(), ()))
        if spelled is None:
            return self._noted_unfit(token)
        if len(self.ids) < _DISTINCT_LIMIT:
            self.ids[spelled] = None
        return "<id>"

    def _noted_unfit(self, token: str) -> str:
        if len(self.unfit) < _DISTINCT_LIMIT:
            self.unfit[token[:64]] = None
        return "<unfit>"

    def _short_form(self, core: str) -> str | None:
        """Return `patient <15>` for `patient15` or `Patient-15`: the word and digits of an id.

        `p15` is kept: it may be a protein, and `pt4` a stage: `t <4>`.
        """
        letters = core.rstrip("0123456789")
        digits = core[len(letters) :]
        word = letters.rstrip(_SEPARATORS).lower()
        is_short = word in {prefix.rstrip(_SEPARATORS) for prefix in self._prefixes} | {"patient"}
        is_short = (is_short and len(word) > 2) or letters.lower() in ("pt_", "pat_", "pt-", "pat-")
        if not 0 < len(digits) <= _DIGITS_LIMIT:
            return None
        if letters == "pt" and digits in _STAGES:
            return f"t <{digits}>"
        is_letter = letters in ("p", "P", "p-", "P-") or (
            letters in ("pt", "Pt") and digits not in _STAGES
        )
        return f"{'patient' if is_short else 'p'} <{digits}>" if is_short or is_letter else None

    def _embedded(self, core: str) -> str | None:
        """Return the shape of a token that holds an id between separators: `patient_4.Then`."""
        parts = list(_PART.finditer(core))
        if len(parts) < 2:
            return None
        pieces = list(self._pieces(core, parts))
        return "".join(pieces) if "<id>" in pieces or "<unfit>" in pieces else None

    def _pieces(self, core: str, parts: Sequence[re.Match[str]]) -> Iterator[str]:
        place = 0
        done = 0
        while place < len(parts):
            yield core[done : parts[place].start()]
            size = self._id_length(core, parts[place : place + _PARTS_LIMIT])
            end = parts[place + max(size, 1) - 1].end()
            token = core[parts[place].start() : end]
            yield self._noted(token) if size else token.lower()
            place, done = place + max(size, 1), end

    def _id_length(self, core: str, parts: Sequence[re.Match[str]]) -> int:
        """Return of how many leading parts the longest id consists, 0 for none."""
        start = parts[0].start()
        fits = (
            size
            for size in range(len(parts), 0, -1)
            if self._is_id(core[start : parts[size - 1].end()])
        )
        return next(fits, 0)

    def _hidden_id(self, core: str) -> str | None:
        """Return a token too long to be taken apart from where an id seems to begin."""
        lowered = core.lower()
        beginnings = (*self._known, *(prefix for prefix in self._prefixes if len(prefix) > 2))
        places = [place for one in beginnings if (place := lowered.find(one)) >= 0]
        return core[min(places) :] if places else None

"""What agents keep with one patient and look up: files, and what was said in earlier turns."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from data_models.chat_context import Artifact, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.errors import ToolInputError
from data_models.identifiers import PatientId, hashed
from services.language.words.folding import fold
from services.language.words.phrases import says
from services.language.words.talk_texts import without_others
from services.language.words.text_words import words_with_places
from services.language.words.vocabulary import read_table
from services.memory_blocks.history import shown_history

SNIPPET_CHARS = 320
_LEAD_CHARS = 90
_ALIKE = 0.8
_FUZZY_FROM_LETTERS = 4
_ALIKE_WEIGHT = 0.7
_USER_WEIGHT = 1.15
_MARK = re.compile(r"\[… \d+ characters left out(?:, whole in turn \d+)? …\]")
_STOP = frozenset(read_table("en/small_words")["not_recalled"].split())


@dataclass(frozen=True, slots=True)
class Remark:
    """One message of an earlier turn, or the part of it that was looked for.

    Attributes:
        speaker: `user`, or the agent's name.
        user: Display name of who wrote the message that it is of.
    """

    turn_id: int
    timestamp: datetime
    speaker: str
    text: str
    user: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found, the best first.

    Attributes:
        searched: How many turns were looked through.
    """

    remarks: Sequence[Remark]
    searched: int


@dataclass(frozen=True)
class _Line:
    turn: Turn
    speaker: str
    text: str

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word stands in it."""
        return Counter(words_of(_MARK.sub(" ", self.text)))


def words_of(text: str) -> list[str]:
    """Return the words of `text` without case, accents and plural endings."""
    return [_singular(word) for _, word in words_with_places(fold(text)[0])]


def search(turns: Iterable[Turn], query: str, *, limit: int) -> Recalled:
    """Return up to `limit` remarks that hold the telling words of `query`, misspelt ones too.

    A turn that comes twice counts once, the longer of the two. Without a telling word the newest
    remarks are what is meant.
    """
    unique: dict[int, Turn] = {}
    for turn in turns:
        if says(turn.user_message, "recalls"):
            continue  # who asked before what was said said nothing
        held = unique.get(turn.turn_id)
        if held is None or held.is_shortened:
            unique[turn.turn_id] = turn
    lines = [line for number in sorted(unique) for line in _lines(unique[number])]
    terms = [word for word in dict.fromkeys(words_of(query)) if word not in _STOP]
    if not terms:
        newest = [_remark(line, {}) for line in lines[-limit:]]
        return Recalled(newest[::-1], len(unique))
    return Recalled(_best(lines, terms, limit), len(unique))


def _best(lines: Sequence[_Line], terms: Sequence[str], limit: int) -> list[Remark]:
    spread = Counter(word for line in lines for word in line.words)
    meant = {term: _spellings(term, spread) for term in terms}
    scored = [(_score(line, meant, spread, len(lines)), line) for line in lines]
    hits = [(score, line) for score, line in scored if score > 0]
    hits.sort(key=lambda hit: (-hit[0], -hit[1].turn.turn_id))
    telling = {word: weight for found in meant.values() for word, weight in found.items()}
    return [_remark(line, telling) for _, line in hits[:limit]]


def _spellings(term: str, spread: Mapping[str, int]) -> dict[str, float]:
    """Return the words that `term` may stand for, with how much they count."""
    found = {term: 1.0} if term in spread else {}
    if len(term) >= _FUZZY_FROM_LETTERS and not found:
        alike = process.extract(
            term, spread.keys(), scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=_ALIKE, limit=5,
        )  # fmt: skip
        found |= {word: _ALIKE_WEIGHT for word, _, _ in alike}
    return found


def _score(
    line: _Line, meant: Mapping[str, Mapping[str, float]], spread: Mapping[str, int], lines: int
) -> float:
    """Weigh rare words over common ones, and lines that hold all terms over those with some."""
    score, covered = 0.0, 0
    for spellings in meant.values():
        best = max(
            (
                weight * math.log(1 + lines / spread[word]) * min(2.0, 0.7 + 0.3 * line.words[word])
                for word, weight in spellings.items()
                if word in line.words
            ),
            default=0.0,
        )
        score, covered = score + best, covered + (best > 0)
    said_by_user = _USER_WEIGHT if line.speaker == "user" else 1.0
    return score * said_by_user * covered / len(meant)


def _lines(turn: Turn) -> list[_Line]:
    told = (
        (one.agent, without_others(one.marked_text).splitlines()) for one in turn.agent_responses
    )
    # What it quotes of earlier turns is found there.
    own = ((agent, (one for one in said if not one.startswith(">"))) for agent, said in told)
    answers = [_Line(turn, agent, "\n".join(lines)) for agent, lines in own]
    return [_Line(turn, "user", turn.user_message), *answers]


def _remark(line: _Line, telling: Mapping[str, float]) -> Remark:
    return Remark(
        turn_id=line.turn.turn_id,
        timestamp=line.turn.timestamp,
        speaker=line.speaker,
        text=_snippet(line.text, telling),
        user=line.turn.user,
    )


def _snippet(text: str, telling: Mapping[str, float]) -> str:
    """Return `text` around its first telling word, cut at spaces."""
    if len(text) <= SNIPPET_CHARS:
        return text
    first = next((at for at, word in words_with_places(text) if words_of(word)[0] in telling), 0)
    start = max(0, min(first - _LEAD_CHARS, len(text) - SNIPPET_CHARS))
    part = text[start : start + SNIPPET_CHARS]
    if start > 0:
        part = "… " + part.partition(" ")[2]
    return part if start + SNIPPET_CHARS >= len(text) else part.rpartition(" ")[0] + " …"


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


# What the agents of one turn may keep and look up.

ARTIFACT_LIMIT_BYTES = 10_000_000
_UNSAFE = re.compile(r"[^\w .()-]+")


@dataclass(slots=True, kw_only=True)
class PatientArtifacts:
    """Keeps files of one conversation, one patient and one run."""

    contexts: ChatContextAccessor
    conversation_id: str
    patient_id: PatientId | None
    run_id: str
    clock: Clock

    async def save(self, *, file_name: str, media_type: str, data: bytes, key: str) -> Artifact:
        """Store `data` (at most 10 MB) beside the patient's document and return its row.

        Args:
            key: The same key names the same file: it is stored once, as it was last given.

        Raises:
            ToolInputError: the file is larger than 10 MB.
        """
        if len(data) > ARTIFACT_LIMIT_BYTES:
            raise ToolInputError("the file is larger than 10 MB")
        artifact = Artifact(
            artifact_id=f"file_{hashed(key)}",
            file_name=_UNSAFE.sub("_", file_name)[-120:],
            media_type=media_type,
            size_bytes=len(data),
            created_at=self.clock.now(),
            run_id=self.run_id,
        )
        await self.contexts.save_file(
            self.conversation_id, self.patient_id, artifact.artifact_id, data
        )
        return artifact


# What an agent may look up of earlier turns: the active patient's, and nobody else's.

_SEARCHED_TURNS = 5_000
"""The newest so many are looked through; the user's own history view reaches all."""


class PatientPast:
    """Earlier turns of one patient; archives are read when first asked."""

    def __init__(self, *, contexts: ChatContextAccessor, context: ChatContext, run_id: str) -> None:
        self._contexts = contexts
        self._context = context
        self._run_id = run_id
        self._archived: list[Turn] | None = None

    async def recall(self, query: str, *, limit: int) -> Recalled:
        """Return up to `limit` remarks that hold the words of `query`, the best first.

        Raises:
            StoreError: an archive could not be read.
        """
        here = [turn for turn in self._context.chat_history if turn.run_id != self._run_id]
        if self._archived is None:
            self._archived = await self._contexts.read_archived_turns(
                self._context, before=self._context.next_turn_id, limit=_SEARCHED_TURNS
            )
        turns = shown_history(self._context, [*self._archived, *here])
        return search(turns, query, limit=limit)

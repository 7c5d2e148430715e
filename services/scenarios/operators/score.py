"""How far the last dry run came true: what it foretold of sessions, against what they met.

A dry run keeps what it foretold beside the scenario; the next one says how that turned out.
"""

from collections.abc import Iterable
from typing import TypeAlias

from pydantic import BaseModel, Field

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from data_models.storage.blob_changes import change_blob
from data_models.storage.blob_store import BlobStore
from data_models.values import Value, read_value
from services.scenarios.operators.dry_run import DryRunRow

KEPT_LIMIT = 2_000
"""Foretold sessions that are kept of a plan."""
READ_LIMIT = 500
"""Events that are read to score them."""
Misses: TypeAlias = dict[str, int]


class Foretold(Value):
    """What a dry run said of one session."""

    effect: str
    step_after: str = ""
    asks: tuple[str, ...] = ()


class Prediction(BaseModel):
    """What was foretold of the sessions that one version reaches, by hashed session id."""

    to_version: int
    sessions: dict[str, Foretold] = Field(default_factory=dict)


class Score(Value):
    """How the dry run for a version came true.

    Attributes:
        met: Sessions that jumped since, of those that were foretold.
        right: Of these, asked and led as foretold.
        wrong: What else happened, with its number.
    """

    to_version: int
    foretold: int
    met: int
    right: int
    wrong: Misses = Field(default_factory=dict)


class ScoreBook:
    """Keeps predictions beside the scenario's events."""

    def __init__(self, *, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def foretell(
        self, scenario_id: str, to_version: int, rows: Iterable[DryRunRow], *, anew: bool
    ) -> None:
        """Keep what was foretold; `anew` where a dry run begins."""
        name = _name(scenario_id, to_version)
        fresh = {
            row.session: Foretold(
                effect=row.effect, step_after=row.step_after, asks=(*row.confirm, *row.collect)
            )
            for row in rows
        }

        def foretold(data: bytes | None) -> bytes | None:
            kept = {} if data is None or anew else read_value(data, Prediction).sessions
            if len(kept) >= KEPT_LIMIT:
                return None
            sessions = dict([*kept.items(), *fresh.items()][:KEPT_LIMIT])
            return Prediction(to_version=to_version, sessions=sessions).model_dump_json().encode()

        await change_blob(self._blobs, name, foretold, what="a prediction")

    async def score(self, scenario_id: str, versions: Iterable[int]) -> Score | None:
        """Return how the newest of `versions` that was foretold came true; None if none was."""
        for version in sorted(versions, reverse=True):
            blob = await self._blobs.read(_name(scenario_id, version))
            if blob is not None:
                return await self._score(scenario_id, read_value(blob.data, Prediction))
        return None

    async def _score(self, scenario_id: str, prediction: Prediction) -> Score:
        wrong: Misses = {}
        met = right = read = 0
        async for info in self._blobs.list(f"scenarios/{scenario_id}/events/"):
            if read == READ_LIMIT:
                break
            read += 1
            blob = await self._blobs.read(info.name)
            event = None if blob is None else read_value(blob.data, MigrationAppliedEvent)
            said = None if event is None else prediction.sessions.get(hashed(event.session_id))
            if event is None or said is None or event.to_version != prediction.to_version:
                continue
            met += 1
            miss = missed(said, event)
            right += not miss
            if miss:
                wrong[miss] = wrong.get(miss, 0) + 1
        return Score(
            to_version=prediction.to_version,
            foretold=len(prediction.sessions),
            met=met,
            right=right,
            wrong=wrong,
        )


def missed(said: Foretold, event: MigrationAppliedEvent) -> str:
    """Return what came otherwise than foretold; "" if nothing did.

    Where something was to be asked, the way depends on the answer and is not held against it.
    """
    asked, wanted = set(event.fields_collected), set(said.asks)
    if not wanted <= asked:
        return "was not asked what was foretold"
    if asked and not wanted:
        return "was asked, and nothing was foretold"
    if wanted:
        return ""
    if event.blocked_by_checkpoint != (said.effect == "blocked"):
        return "a checkpoint blocked otherwise"
    if (event.step_after or "") != said.step_after:
        return "went to another step"
    return ""


def _name(scenario_id: str, version: int) -> str:
    return f"scenarios/{scenario_id}/predictions/{version}.json"

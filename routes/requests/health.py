"""Whether the process lives, and whether it can work."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog
from aiohttp import web

from data_models.clock import Clock
from data_models.errors import ModelUnfitError, RoundsError

_OK, _UNAVAILABLE = "ok", "unavailable"
Probe = Callable[[], Awaitable[None]]
logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class Readiness:
    """Asks storage and model whether they answer, at most once in `fresh_seconds`.

    While one does not, they are asked again after `retry_seconds`: a server that has just started
    is not kept waiting for its first request.

    Attributes:
        probes: By name; one that raises a `RoundsError` or takes too long is not ready.
    """

    probes: Mapping[str, Probe]
    clock: Clock
    probe_seconds: float = 3.0
    fresh_seconds: float = 2.0
    retry_seconds: float = 0.25

    def __post_init__(self) -> None:
        self._retry_seconds = min(self.retry_seconds, self.fresh_seconds)
        self._states: dict[str, str] = {}
        self._asked_at: float | None = None
        self._asking = asyncio.Lock()
        self._is_draining = False

    def drain(self) -> None:
        """Be unready from now on: the process is about to stop."""
        self._is_draining = True

    async def states(self) -> dict[str, str]:
        """Return `ok` or `unavailable` for the process and each part.

        A model that answers, but not as it has to, is `unfit: ` and what to set.
        """
        async with self._asking:
            if not self._is_fresh():
                answers = await asyncio.gather(*map(self._answers, self.probes))
                self._states = dict(zip(self.probes, answers, strict=True))
                self._asked_at = self.clock.monotonic()
        return {"process": _UNAVAILABLE if self._is_draining else _OK, **self._states}

    def _is_fresh(self) -> bool:
        age = None if self._asked_at is None else self.clock.monotonic() - self._asked_at
        is_ready = all(state == _OK for state in self._states.values())
        kept = self.fresh_seconds if is_ready else self._retry_seconds
        return age is not None and age < kept

    async def _answers(self, name: str) -> str:
        try:
            async with asyncio.timeout(self.probe_seconds):
                await self.probes[name]()
        except ModelUnfitError as error:
            logger.warning("readiness.unfit", part=name, reason=str(error))
            return f"unfit: {error}"
        except (RoundsError, TimeoutError) as error:
            logger.warning("readiness.unavailable", part=name, error=type(error).__name__)
            return _UNAVAILABLE
        return _OK


async def healthz(_: web.Request) -> dict[str, str]:
    """The process answers; nothing else is asked."""
    return {"status": "ok"}

"""The team before it is there: Semantic Kernel takes seconds to import, the port opens at once.

A turn that comes earlier waits; `/readyz` says so. What Rounds never calls of Semantic Kernel is
not imported: its packages import template languages, arrays and the types of other clients with
themselves, a fifth of the server's memory and a third of its start. They meet placeholders.
"""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

from data_models.errors import ModelUnavailableError
from services.group_chat_port import GroupChat, GroupChatEvent, GroupChatRequest
from services.language.utterance import TeamMember
from services.model_port import Answer, StructuredModel
from services.records.ranking import IMPORTS_NUMPY
from services.scenarios.session.progress import ToolAction
from services.team import Team, card_of

_KERNEL = "semantic_kernel"
_UNUSED = (
    *("pybars", "jinja2", "jinja2.sandbox", "numpy", "httpx"),
    *("openai", "openai.types", "openai.types.completion_usage"),
)


class _Placeholder(ModuleType):
    """A module that has every name, each a class of its own."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self.__dict__[name] = type(name, (Exception,), {})
        return made


def _placeholder(name: str) -> ModuleType:
    module = _Placeholder(name)
    module.__path__ = []
    return module


def import_kernel() -> None:
    """Import Semantic Kernel, and with it the team, before any other module does.

    What anybody else imports of the libraries that it does not get, later, is the real one.
    """
    if _KERNEL in sys.modules:
        return
    with IMPORTS_NUMPY, _placeholders():
        importlib.import_module("group_chat.build")


@contextmanager
def _placeholders() -> Iterator[None]:
    absent = [name for name in _UNUSED if name.partition(".")[0] not in sys.modules]
    sys.modules.update({name: _placeholder(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


START_LIMIT_SECONDS = 60.0


ImageReading: TypeAlias = Callable[[bytes, str], Awaitable[str | None]]
"""The writing of an image of a media type; None where no model reads images."""


@dataclass(frozen=True, slots=True)
class Started:
    """What is there once the libraries are."""

    group_chat: GroupChat
    structured: StructuredModel
    read_image: ImageReading
    check: Callable[[], Awaitable[None]]
    close: Callable[[], Awaitable[None]]


class LateStart:
    """Starts the team in the background, and stands in for it and its classifier until then."""

    def __init__(self, *, team: Team, is_language_model: bool) -> None:
        specs = sorted(team.agents, key=lambda agent: not agent.facilitator)
        self.agents: Sequence[TeamMember] = tuple(card_of(spec) for spec in specs)
        self.facilitator = self.agents[0].name
        self.is_language_model = is_language_model
        self._started: asyncio.Future[Started] = asyncio.get_running_loop().create_future()

    async def start(self, build: Callable[[], Started]) -> None:
        """Build the team in a thread, so that the loop goes on serving.

        Raises:
            ConfigurationError: a setting of the model is unusable.
        """
        self._started.set_result(await asyncio.to_thread(build))

    @property
    def reader(self) -> StructuredModel | None:
        """What answers structured questions; None where only rules read."""
        return self if self.is_language_model else None

    async def act(
        self, request: GroupChatRequest, action: ToolAction
    ) -> AsyncIterator[GroupChatEvent]:
        async for event in (await self._there()).group_chat.act(request, action):
            yield event

    async def run(self, request: GroupChatRequest) -> AsyncIterator[GroupChatEvent]:
        async for event in (await self._there()).group_chat.run(request):
            yield event

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        structured = (await self._there()).structured
        return await structured.ask(
            purpose=purpose, instructions=instructions, text=text, answer=answer
        )

    async def read_image(self, data: bytes, media_type: str) -> str | None:
        """Return the writing of an image; None where the model takes none.

        Raises:
            ModelError: it did not answer, or wrote nothing.
        """
        return await (await self._there()).read_image(data, media_type)

    async def check(self) -> None:
        """Return if the model can serve; for readiness.

        Raises:
            ModelError: it cannot, or the team is not there yet.
        """
        if not self._started.done():
            raise ModelUnavailableError("the team is still starting")
        await self._started.result().check()

    async def close(self) -> None:
        """Close the model's connections."""
        if self._started.done() and not self._started.cancelled():
            await self._started.result().close()

    async def _there(self) -> Started:
        if self._started.done():
            return self._started.result()
        try:
            async with asyncio.timeout(START_LIMIT_SECONDS):
                return await asyncio.shield(self._started)
        except TimeoutError as error:
            raise ModelUnavailableError("the team did not start in time") from error

"""Imports Semantic Kernel without what Rounds never calls of it.

Its packages import template languages, arrays and the types of other clients with themselves: a
fifth of the server's memory and a third of its start. They meet placeholders while it is imported.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from services.records.ranking import IMPORTS_NUMPY

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

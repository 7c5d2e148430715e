"""Files of YAML that an operator writes, and that may change while the server runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import structlog
import yaml
from pydantic import BaseModel, ValidationError

from data_models.errors import ConfigurationError

Made = TypeVar("Made")
Model = TypeVar("Model", bound=BaseModel)
_log = structlog.get_logger()


def read_document(path: Path, *, named: str, example: str) -> Any:
    """Return what a file holds.

    Args:
        named: The setting that names the file, and the file itself where that helps.
        example: What to do, for the error.

    Raises:
        ConfigurationError: it cannot be read, or is no YAML.
    """
    try:
        return yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        kind = type(error).__name__
        raise ConfigurationError(f"{named}: cannot be read ({kind}). {example}") from None


def read_written(path: Path, model: type[Model], *, named: str, example: str) -> Model:
    """Return what a file holds as a value.

    Raises:
        ConfigurationError: as `read_document`; or it is no such value: the text says where, and
            repeats nothing of the file.
    """
    try:
        return model.model_validate(read_document(path, named=named, example=example))
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigurationError(f"{named}: {place}: {first['msg']}. {example}") from None


@dataclass(slots=True, kw_only=True)
class WatchedFile(Generic[Made]):
    """A file that is read again once it has changed.

    Attributes:
        read: Raises `ConfigurationError` where the file is not of its form.
        nothing: What counts while it cannot be read.
        event: What the log says then.
    """

    path: Path
    read: Callable[[Path], Made]
    nothing: Made
    event: str
    _made: Made = field(init=False)
    _stamp: tuple[int, int] | None = field(default=None, init=False)

    def current(self) -> Made:
        """Return what it holds now."""
        try:
            found = self.path.stat()
            if (stamp := (found.st_mtime_ns, found.st_size)) != self._stamp:
                self._made, self._stamp = self.read(self.path), stamp
        except (OSError, ConfigurationError) as error:
            _log.error(self.event, error=type(error).__name__)
            self._made, self._stamp = self.nothing, None
        return self._made

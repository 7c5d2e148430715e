"""Files of YAML that an operator writes, and that may change while the server runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import structlog
import yaml
from pydantic import BaseModel, ValidationError

from data_models.errors import ConfigurationError

Made = TypeVar("Made")
Model = TypeVar("Model", bound=BaseModel)
_log = structlog.get_logger()


def read_written(path: Path, model: type[Model], *, named: str, example: str) -> Model:
    """Return what a file holds.

    Raises:
        ConfigurationError: it cannot be read, or holds no such value. The text says `named`, where
            and what is wrong, and the example; it repeats nothing of the file.
    """
    try:
        return model.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        problem = f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problem = f"cannot be read ({type(error).__name__})"
    raise ConfigurationError(f"{named}: {problem}. {example}")


@dataclass(slots=True, kw_only=True)
class WatchedFile(Generic[Made]):
    """A file that is read again once it has changed; while `read` refuses it, `now` is `nothing`.

    Attributes:
        event: What the log says then.
    """

    path: Path
    read: Callable[[Path], Made]
    nothing: Made
    event: str
    _now: tuple[tuple[int, int] | None, Made] | None = None

    def now(self) -> Made:
        """Return what it holds."""
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if self._now is None or self._now[0] != stamp:
                self._now = (stamp, self.read(self.path))
        except (OSError, ConfigurationError) as error:
            _log.error(self.event, error=type(error).__name__)
            self._now = (None, self.nothing)
        return self._now[1]

"""`API_KEYS_FILE`: keys with scopes, a range of patients and an end; read again when it changes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Literal

import structlog
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import ConfigurationError
from data_models.identifiers import PatientId

ALL = "*"
_EXAMPLE = (
    "Example: API_KEYS_FILE=./keys.yaml with `keys: [{name: alice, sha256: …, scopes: [chat]}]`"
)
_PREFIX = "key:"
_log = structlog.get_logger()


class FileKey(BaseModel):
    """One key.

    Attributes:
        scopes: `chat` (write, and read), `read` (read alone), `operator`,
            `order` (confirm drafts of orders, with `chat`).
        patients: Ids that it reaches, `*`: all that the access policy opens.
        expires: The last moment; a date means its end in UTC.
        practitioner: The FHIR Practitioner as whom it acts, with `ACCESS_POLICY=relationship`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$", repr=False)]
    scopes: Annotated[tuple[Literal["chat", "operator", "order", "read"], ...], Field(min_length=1)]
    patients: tuple[str, ...] = (ALL,)
    expires: Annotated[date | datetime | None, Field(union_mode="left_to_right")] = None
    practitioner: str | None = None

    @property
    def expires_at(self) -> datetime | None:
        """When it ends, in UTC; None: never."""
        if self.expires is None:
            return None
        if not isinstance(self.expires, datetime):
            return datetime.combine(self.expires, time.max, UTC)
        return self.expires if self.expires.tzinfo else self.expires.replace(tzinfo=UTC)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    keys: tuple[FileKey, ...]


class KeyFile:
    """The keys as they are now. A file that cannot be read lets no key of it in.

    Raises:
        ConfigurationError: at the start the file cannot be read, or is not of this form.
    """

    def __init__(self, *, path: Path) -> None:
        self._path = path
        self._stamp = _stamp(path)
        self._keys: Sequence[FileKey] = read_keys(path)
        self._names = {one.name for one in self._keys}

    def keys(self) -> Sequence[FileKey]:
        """Return all keys, ended ones too; a name may have two while one is replaced."""
        try:
            if (stamp := _stamp(self._path)) != self._stamp:
                self._keys, self._stamp = read_keys(self._path), stamp
                self._names |= {one.name for one in self._keys}
        except (OSError, ConfigurationError) as error:
            _log.error("api_keys_unread", error=type(error).__name__)
            self._keys, self._stamp = (), None
        return self._keys

    def is_in_range(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether a principal may reach a patient; users and keys of elsewhere have no range.

        Of two keys of one name the narrower range holds: nobody can tell which one a turn began by.
        """
        mine = self._of(principal_id)
        if not mine and principal_id.removeprefix(_PREFIX) in self._names:
            return not principal_id.startswith(_PREFIX)  # the key is gone, or cannot be read
        return all(ALL in one.patients or patient_id in one.patients for one in mine)

    def practitioner_of(self, principal_id: str) -> str | None:
        """Return as whom a key acts, None for all others."""
        return next((one.practitioner for one in self._of(principal_id) if one.practitioner), None)

    def _of(self, principal_id: str) -> list[FileKey]:
        name = principal_id.removeprefix(_PREFIX)
        return [one for one in self.keys() if principal_id.startswith(_PREFIX) and one.name == name]


def read_keys(path: Path) -> tuple[FileKey, ...]:
    """Return the keys of the file.

    Raises:
        ConfigurationError: it cannot be read, or says what no key has; no line repeats a hash.
    """
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        raise ConfigurationError(f"API_KEYS_FILE: cannot be read. {_EXAMPLE}") from None
    try:
        return _File.model_validate(raw if isinstance(raw, Mapping) else {}).keys
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "keys"
        text = f"API_KEYS_FILE: {place}: {first['msg']}. {_EXAMPLE}"
        raise ConfigurationError(text) from None


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)

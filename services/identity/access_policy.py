"""Who may open a chart (spec page 10.6), and how many are opened in an hour."""

from collections import deque
from pathlib import Path
from typing import Protocol

import structlog
import yaml

from data_models.clock import Clock
from data_models.errors import ConfigurationError
from data_models.identifiers import PatientId, hashed
from settings import Settings

ALERT_CHARTS = 200
ALERT_SECONDS = 3_600.0
_EVERYBODY = "*"
_log = structlog.get_logger()


class AccessPolicy(Protocol):
    """Decides whether a principal may open a chart."""

    def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether the chart is open to the principal."""
        ...


class OpenToAll:
    """An `AccessPolicy` under which any signed-in user may open any chart."""

    def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`."""
        return True


class CareRoster:
    """An `AccessPolicy` after a YAML file: `principal: [patient_4, …]`, `*` for all of either.

    The file is read again when it changes; one that cannot be read opens nothing.
    """

    def __init__(self, *, file: Path) -> None:
        self._file = file
        self._stamp: tuple[int, int] | None = None
        self._rows: dict[str, frozenset[str]] = {}

    def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`."""
        rows = self._current()
        mine = rows.get(principal_id, frozenset()) | rows.get(_EVERYBODY, frozenset())
        return patient_id in mine or _EVERYBODY in mine

    def _current(self) -> dict[str, frozenset[str]]:
        try:
            found = self._file.stat()
            if (stamp := (found.st_mtime_ns, found.st_size)) != self._stamp:
                self._rows, self._stamp = read_care_roster(self._file), stamp
        except (OSError, ConfigurationError) as error:
            _log.error("care_roster_unread", error=type(error).__name__)
            self._rows, self._stamp = {}, None
        return self._rows


class ChartCounter:
    """Counts the charts that each principal opens; 200 in an hour raise an alert, once an hour."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opened: dict[str, deque[float]] = {}
        self._alerted: dict[str, float] = {}

    def opened(self, principal_id: str) -> bool:
        """Note an opening; return whether an alert was raised."""
        now = self._clock.monotonic()
        times = self._opened.setdefault(principal_id, deque(maxlen=ALERT_CHARTS))
        times.append(now)
        is_many = len(times) == ALERT_CHARTS and now - times[0] <= ALERT_SECONDS
        if not is_many or now - self._alerted.get(principal_id, -ALERT_SECONDS) < ALERT_SECONDS:
            return False
        self._alerted[principal_id] = now
        _log.error("charts_opened_alert", principal=hashed(principal_id), charts=ALERT_CHARTS)
        return True


def read_care_roster(file: Path) -> dict[str, frozenset[str]]:
    """Return who may open whom.

    Raises:
        ConfigurationError: the file is not there, or is no list of patients for each principal.
    """
    example = "Example: CARE_ROSTER_FILE=./care.yaml with `key:alice: [patient_4]`"
    try:
        raw = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        raise ConfigurationError(f"CARE_ROSTER_FILE: cannot be read. {example}") from None
    if not isinstance(raw, dict) or not all(isinstance(one, list) for one in raw.values()):
        raise ConfigurationError(f"CARE_ROSTER_FILE: is no list for each principal. {example}")
    return {str(name): frozenset(map(str, rows)) for name, rows in raw.items()}


def access_policy_for(settings: Settings) -> AccessPolicy:
    """Return the policy that the settings name, which the log of the start names too.

    Raises:
        ConfigurationError: the roster is needed and cannot be read.
    """
    _log.info("access_policy", policy=settings.access_policy)
    if settings.access_policy == "open":
        return OpenToAll()
    if settings.care_roster_file is None:
        raise ConfigurationError(
            "CARE_ROSTER_FILE: is needed with ACCESS_POLICY=roster. "
            "Example: CARE_ROSTER_FILE=./care.yaml"
        )
    read_care_roster(settings.care_roster_file)
    return CareRoster(file=settings.care_roster_file)

"""The policies that need no records: open to all, and the roster of a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from pydantic import RootModel

from data_models.identifiers import PatientId
from data_models.operator_files import WatchedFile, read_written

_EVERYBODY = "*"
_EXAMPLE = "Example: CARE_ROSTER_FILE=./care.yaml with `key:alice: [patient_4]`"


class AccessPolicy(Protocol):
    """Decides whether a principal may open a chart."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether the chart is open to the principal.

        Raises:
            RecordsError: nobody can tell just now; the chart stays closed meanwhile.
            SignInNeededError: nor can anybody before the user has signed in.
        """
        ...


class OpenToAll:
    """An `AccessPolicy` under which any signed-in user may open any chart."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        return True


class CareRoster:
    """An `AccessPolicy` after a YAML file: `principal: [patient_4, …]`, `*` for all of either.

    The file is read again when it changes; one that cannot be read opens nothing.
    """

    def __init__(self, *, file: Path) -> None:
        self._file = WatchedFile[Mapping[str, frozenset[str]]](
            path=file, read=read_care_roster, nothing={}, event="care_roster_unread"
        )

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        rows = self._file.now()
        mine = rows.get(principal_id, frozenset()) | rows.get(_EVERYBODY, frozenset())
        return patient_id in mine or _EVERYBODY in mine


class _Roster(RootModel[dict[str, frozenset[str]]], coerce_numbers_to_str=True):
    """Lists of patients by principal."""


def read_care_roster(file: Path) -> Mapping[str, frozenset[str]]:
    """Return who may open whom.

    Raises:
        ConfigurationError: the file is not there, or is no list of patients for each principal.
    """
    return read_written(file, _Roster, named="CARE_ROSTER_FILE", example=_EXAMPLE).root

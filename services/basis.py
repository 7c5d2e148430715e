"""What this process is among the replicas, and what the factories of parts build with."""

import os
import platform
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from data_models.clock import Clock, IdSource
from data_models.storage.blob_store import BlobStore
from settings import Settings

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")


class Replica:
    """This process among the replicas.

    A claim of a process that is provably dead need not be waited for: the name holds the boot
    and the process namespace, so a process of the same machine can be looked up. Of any other
    machine nothing is known, and its claims run out by time.
    """

    def __init__(self) -> None:
        self._place = _place()
        self._nonce = secrets.token_hex(4)
        self.name = f"{self._place}/{os.getpid()}/{self._nonce}"
        """Unique; what claims carry."""
        self.label = f"{platform.node()}-{os.getpid()}-{self._nonce}"
        """Unique, short and readable; what the audit trail is filed under."""

    def is_dead(self, name: str) -> bool:
        """Whether the replica of that name certainly runs no more."""
        place, _, rest = name.rpartition("/")[0].rpartition("/")
        if self._place == "" or place != self._place or not rest.isdecimal():
            return False
        if int(rest) == os.getpid():
            return name != self.name
        return not _is_running(int(rest))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    # A killed process that its parent has not reaped still answers signal 0.
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def _place() -> str:
    if sys.platform != "linux":
        return ""
    try:
        boot = _BOOT_ID.read_text().strip()
        namespace = str(_PID_NAMESPACE.readlink())
    except OSError:
        return ""
    return f"{platform.node()}:{boot[:13]}:{namespace.strip('pid:[]')}"


@dataclass(frozen=True, kw_only=True)
class Basis:
    """One for each process.

    Attributes:
        users: The container beside the conversations.
        session: For calls to servers; it goes only to hosts that the settings allow.
    """

    settings: Settings
    users: BlobStore
    session: aiohttp.ClientSession
    clock: Clock
    ids: IdSource

"""One process of several on one store, or one that dies; tests run it with `python -m`."""

import asyncio
import os
import resource
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from data_models.clock import RandomIds
from data_models.errors import BlobChangedError, StoreError
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from data_models.storage.local_files import name_held
from tests.given import present

NAME = "conv1/patient_patient_4_context.json"
LOG = "audit/day"
NEW = b"new" * 2_000
_FILE_LIMIT_BYTES = 4_096
_STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate"}


async def increment(store: BlobStore, *, times: int) -> None:
    """Add one to the number in the blob, `times` times, as every writer of documents does."""
    done = 0
    while done < times:
        blob = present(await store.read(NAME))
        try:
            await store.replace(NAME, str(int(blob.data) + 1).encode(), etag=blob.etag)
        except BlobChangedError:
            continue
        done += 1


async def increment_local(root: str, times: str) -> None:
    store = LocalBlobStore(root=Path(root))
    await increment(store, times=int(times))
    await store.close()


async def increment_azure(connection_string: str, container: str, times: str) -> None:
    from data_models.storage.azure_blob_store import AzureBlobStore  # half a second, here only

    store = AzureBlobStore(connection_string, container=container, ids=RandomIds())
    await increment(store, times=int(times))
    await store.close()


async def die(root: str, step: str) -> None:
    """Replace a blob and append to another; kill this process at the n-th file operation."""
    store = LocalBlobStore(root=Path(root))
    blob = present(await store.read(NAME))
    sys.addaudithook(killer(at=int(step)))
    await store.replace(NAME, NEW, etag=blob.etag)
    await store.create("conv1/inbox/1.json", NEW)
    await store.append(LOG, b"two\n", position=4)
    await store.delete("conv1/old.json")


def killer(*, at: int) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook: it runs just before each file operation."""
    seen = 0

    def hook(event: str, _: tuple[object, ...]) -> None:
        nonlocal seen
        seen += event in _STEPS
        if event in _STEPS and seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


async def fill(root: str) -> None:
    """Try to write more than the system allows to one file; print what each attempt raised."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_LIMIT_BYTES, _FILE_LIMIT_BYTES))
    store = LocalBlobStore(root=Path(root))
    await report(store.replace(NAME, NEW, etag=present(await store.read(NAME)).etag))
    await report(store.create("conv1/other.json", NEW))
    await report(store.append(LOG, NEW, position=4))
    await report(store.check())
    await store.close()


async def report(attempt: Awaitable[object]) -> None:
    try:
        await attempt
    except StoreError as error:
        sys.stdout.write(f"{error}\n")


async def hold(locks: str, name: str) -> None:
    """Hold a lock until killed."""
    with name_held(name, folder=Path(locks)):
        sys.stdout.write("holding\n")
        sys.stdout.flush()
        await asyncio.sleep(60)


COMMANDS: dict[str, Callable[..., Awaitable[None]]] = {
    "increment-local": increment_local,
    "increment-azure": increment_azure,
    "die": die,
    "fill": fill,
    "hold": hold,
}


async def main() -> None:
    await COMMANDS[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    asyncio.run(main())

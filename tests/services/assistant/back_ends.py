"""A local back end of the Assistant over a folder, for tests."""

from pathlib import Path

from data_models.clock import Clock, SystemClock
from data_models.storage.local_blob_store import LocalBlobStore
from services.assistant.local.local_back_end import LocalAssistant
from services.assistant.local.local_file import LocalSamples

SAMPLES = Path(__file__).parents[3] / "samples" / "assistant"


def local_assistant(
    folder: Path, *, samples: Path | None = None, clock: Clock | None = None
) -> LocalAssistant:
    """Return a back end whose files are below `folder`."""
    return LocalAssistant(
        store=LocalBlobStore(root=folder / "users"),
        samples=LocalSamples(folder=samples),
        clock=clock or SystemClock(),
    )


def files_of(folder: Path, name: str) -> list[Path]:
    """Return the stored files of that name."""
    return sorted((folder / "users").rglob(name))

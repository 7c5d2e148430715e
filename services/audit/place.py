"""Where the trail is kept: `trail/{day}/{replica}/{part}.jsonl` in a container of its own.

On Azure the container can be given an immutability policy that still allows appends; the chain
shows what was changed or taken out, the policy also keeps the end from being cut off.
"""

from dataclasses import dataclass
from datetime import datetime

from data_models.blob_store import BlobStore
from data_models.clock import IdSource
from data_models.identifiers import storage_folder
from data_models.local_blob_store import LocalBlobStore
from settings import Settings

CONTAINER = "audit-trail"
ROOT = "trail/"


@dataclass(frozen=True, slots=True)
class Place:
    """One chain: a replica's records of one UTC day, in numbered parts."""

    day: str
    folder: str

    @classmethod
    def of(cls, moment: datetime, replica: str) -> "Place":
        """Return the chain of `replica` at `moment`."""
        return cls(moment.strftime("%Y-%m-%d"), storage_folder(replica))

    def part(self, number: int) -> str:
        """Return the name of the part `number`, from 1; names sort as numbers."""
        return f"{ROOT}{self.day}/{self.folder}/{number:06}.jsonl"


def audit_store_for(settings: Settings, *, ids: IdSource) -> BlobStore:
    """Return the trail's store: beside the conversations', never among them."""
    connection, endpoint = (
        settings.azure_storage_connection_string,
        settings.app_blob_storage_endpoint,
    )
    if connection is None and endpoint is None:
        return LocalBlobStore(root=settings.data_dir / CONTAINER)
    # Azure's SDK takes half a second to import.
    from data_models.azure_blob_store import AzureBlobStore

    if endpoint is not None:
        return AzureBlobStore.from_endpoint(endpoint, container=CONTAINER, ids=ids)
    secret = connection.get_secret_value() if connection else ""
    return AzureBlobStore.from_connection_string(secret, container=CONTAINER, ids=ids)

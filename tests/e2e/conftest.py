"""Servers, started once for all tests that only talk to them."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal

import pytest

from tests.e2e.models import ModelServer, board_brain, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import StoredBlobs, StoredFiles, StoredInAzure


@dataclass(frozen=True)
class World:
    """A running server and what it stands on.

    Attributes:
        model: The model's server; None with the offline rules.
    """

    server: Server
    stored_blobs: StoredBlobs
    model: ModelServer | None

    @property
    def last_words_of_a_plan(self) -> str:
        """What the facilitator says when all steps are done."""
        return "In summary," if self.model else "All steps of the plan are done."


WORLDS: tuple[tuple[Literal["files", "azurite"], Literal["offline", "openai"]], ...] = (
    ("files", "openai"),
    ("azurite", "offline"),
)
"""Each storage and each kind of model once: neither knows of the other."""


@pytest.fixture(scope="session", params=WORLDS, ids="-".join)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A server on each kind of storage, and with each kind of model."""
    store, model_kind = request.param
    folder = tmp_path_factory.mktemp("world")
    with ExitStack() as stack:
        model = stack.enter_context(running_model(board_brain)) if model_kind == "openai" else None
        settings = model.settings() if model else {"LLM_PROVIDER": "offline"}
        stored_blobs: StoredBlobs
        if store == "azurite":
            connection = next(request.getfixturevalue("azure_accounts"))
            settings["AZURE_STORAGE_CONNECTION_STRING"] = connection
            stored_blobs = azure = StoredInAzure(connection)
            stack.callback(azure.close)
        else:
            stored_blobs = StoredFiles(folder / "data")
        server = stack.enter_context(running_server(folder, **settings))
        yield World(server, stored_blobs, model)

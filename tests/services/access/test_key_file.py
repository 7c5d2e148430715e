"""Keys of a file: scopes, a range of patients, an end; a change counts at once."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from data_models.errors import ConfigurationError, UnauthenticatedError
from data_models.identifiers import PatientId
from services.access.authenticators import ApiKeyAuthenticator, KeyFile
from services.access.principal import Handshake, Principal
from tests.fakes import FixedClock
from tests.tables import with_cases

P4, P7 = PatientId("patient_4"), PatientId("patient_7")


def key(name: str, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "sha256": hashlib.sha256(f"{name}-key".encode()).hexdigest(),
        "scopes": ["chat"],
        **more,
    }


def written(path: Path, *keys: dict[str, object]) -> Path:
    path.write_text(yaml.safe_dump({"keys": list(keys)}))
    return path


def authenticator(file: KeyFile, clock: FixedClock | None = None) -> ApiKeyAuthenticator:
    return ApiKeyAuthenticator(keys=[], operators=(), file=file, clock=clock or FixedClock())


async def shown(door: ApiKeyAuthenticator, name: str) -> Principal:
    return await door.authenticate(
        Handshake(peer="10.0.0.1", host="x", authorization=f"Bearer {name}-key")
    )


async def test_scopes_say_what_a_key_may_do(tmp_path: Path) -> None:
    file = KeyFile(
        path=written(
            tmp_path / "keys.yaml",
            key("ada"),
            key("board", scopes=["read"]),
            key("ops", scopes=["operator"]),
        )
    )
    door = authenticator(file)
    assert (await shown(door, "ada")).scopes == {"chat", "read"}
    assert (await shown(door, "board")).scopes == {"read"}
    ops = await shown(door, "ops")
    assert ops.is_operator
    assert not ops.scopes


async def test_a_key_ends_with_its_day(tmp_path: Path) -> None:
    clock = FixedClock()
    file = KeyFile(path=written(tmp_path / "k.yaml", key("ada", expires="2030-01-02")))
    door = authenticator(file, clock)
    assert (await shown(door, "ada")).expires_at is not None
    clock.advance(timedelta(days=1).total_seconds())
    with pytest.raises(UnauthenticatedError):
        await shown(door, "ada")


async def test_a_change_of_the_file_counts_at_once(tmp_path: Path) -> None:
    path = written(tmp_path / "k.yaml", key("ada"))
    file = KeyFile(path=path)
    door = authenticator(file)
    await shown(door, "ada")
    written(path, key("ada"), key("ben", scopes=["read"]))
    await shown(door, "ben")
    written(path, key("ben", scopes=["read"], patients=["patient_4"]))
    with pytest.raises(UnauthenticatedError):
        await shown(door, "ada")
    assert not file.is_in_range("key:ada", P4), "what a gone key began reaches nobody"
    path.write_text("keys: {{{")
    with pytest.raises(UnauthenticatedError):
        await shown(door, "ben")
    assert not file.is_in_range("key:ben", P4)


def test_a_range_is_the_keys_alone(tmp_path: Path) -> None:
    narrow, wide = key("ada", patients=["patient_4"]), key("ben")
    file = KeyFile(path=written(tmp_path / "k.yaml", narrow, wide))
    assert file.is_in_range("key:ada", P4)
    assert not file.is_in_range("key:ada", P7)
    assert file.is_in_range("key:ben", P7)
    assert file.is_in_range("entra:t:ada", P7)
    assert file.is_in_range("key:of-the-settings", P7)


@with_cases("text")
def test_a_file_that_is_none_stops_the_start_and_repeats_no_hash(tmp_path: Path, text: str) -> None:
    (tmp_path / "k.yaml").write_text(text)
    with pytest.raises(ConfigurationError, match="API_KEYS_FILE") as caught:
        KeyFile(path=tmp_path / "k.yaml")
    assert "0000" not in str(caught.value)

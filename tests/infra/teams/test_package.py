"""The Teams app package, checked against Microsoft's own schema."""

import io
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft4Validator, FormatChecker, ValidationError

from infra.teams.package import (
    COLOR_FILE,
    ICONS,
    OUTLINE_FILE,
    SCHEMA_VERSION,
    TeamsApp,
    main,
    manifest,
    package,
)
from tests.peers import node_module
from tests.tables import with_cases

BOT = "11111111-2222-3333-4444-555555555555"
OWN = "66666666-7777-8888-9999-000000000000"
SCHEMAS = "@microsoft/app-manifest/build/json-schemas/teams"
APP = TeamsApp(bot_id=BOT, site="https://rounds.example.org", version="1.2.3", developer="A clinic")


def microsofts() -> Draft4Validator:
    """Microsoft's schema; it is not checked itself, for its patterns are not Python's."""
    folder = node_module(f"{SCHEMAS}/v{SCHEMA_VERSION}", "app-manifest")
    schema: Any = orjson.loads((folder / "MicrosoftTeams.schema.json").read_bytes())
    return Draft4Validator(schema, format_checker=FormatChecker())


def pixels(png: bytes) -> tuple[int, list[bytes]]:
    """Return the size of a square PNG of ours and its pixels, row by row."""
    (size,) = struct.unpack(">I", png[16:20])
    length = struct.unpack(">I", png[33:37])[0]
    rows = zlib.decompress(png[41 : 41 + length])
    wide = 1 + 4 * size
    lines = [rows[at + 1 : at + wide] for at in range(0, len(rows), wide)]
    return size, [line[at : at + 4] for line in lines for at in range(0, len(line), 4)]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [None, "Radiology", "A" * 60])
def test_microsofts_schema_takes_the_manifest(agent: str | None) -> None:
    app = TeamsApp(
        bot_id=BOT,
        site="https://rounds.example.org/clinic",
        version="1.2.3",
        developer="A clinic",
        agent=agent,
        about="w" * 200,
    )
    microsofts().validate(manifest(app))


@pytest.mark.slow
def test_single_sign_on_is_for_the_named_application_and_the_teams_bot(tmp_path: Path) -> None:
    resource = f"api://botid-{OWN}"
    made = manifest(replace(APP, sign_in=OWN))
    microsofts().validate(made)
    assert made["webApplicationInfo"] == {"id": OWN, "resource": resource}
    assert "token.botframework.com" in made["validDomains"]
    assert "webApplicationInfo" not in manifest(APP)
    asked = ["--bot-id", BOT, "--bot", f"Radiology={BOT}", "--sign-in", OWN]
    assert main([*asked, "--site", "https://rounds.example.org", "--out", str(tmp_path)]) == 0
    kept = {}
    for path in sorted(tmp_path.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            kept[path.stem] = orjson.loads(archive.read("manifest.json"))
    assert kept["rounds"]["webApplicationInfo"]["resource"] == resource
    assert "webApplicationInfo" not in kept["rounds-radiology"]


@pytest.mark.slow
def test_the_teams_bot_alone_is_offered_in_copilot_where_that_is_asked_for(tmp_path: Path) -> None:
    made = manifest(replace(APP, copilot=True))
    microsofts().validate(made)
    assert made["copilotAgents"] == {"customEngineAgents": [{"type": "bot", "id": BOT}]}
    assert made["bots"][0]["scopes"][-1] == "copilot"
    asked = ["--bot-id", BOT, "--bot", f"Radiology={BOT}", "--copilot"]
    assert main([*asked, "--site", "https://rounds.example.org", "--out", str(tmp_path)]) == 0
    offered = {}
    for path in sorted(tmp_path.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            offered[path.stem] = "copilotAgents" in orjson.loads(archive.read("manifest.json"))
    assert offered == {"rounds": True, "rounds-radiology": False}


@pytest.mark.slow
def test_microsofts_schema_would_refuse_a_manifest_that_is_wrong() -> None:
    wrong = {**manifest(APP), "id": "no-guid"}
    with pytest.raises(ValidationError):
        microsofts().validate(wrong)


@pytest.mark.slow
def test_the_icons_have_the_sizes_and_colours_that_teams_asks_for() -> None:
    size, colored = pixels((ICONS / COLOR_FILE).read_bytes())
    assert size == 192
    assert colored[0] == bytes.fromhex("5b5fc7ff")
    assert bytes((255, 255, 255, 255)) in colored
    size, outline = pixels((ICONS / OUTLINE_FILE).read_bytes())
    assert size == 32
    assert outline[0][3] == 0
    assert {pixel[:3] for pixel in outline} == {b"\xff\xff\xff"}
    assert max(pixel[3] for pixel in outline) == 255


def test_a_package_holds_what_its_manifest_names_and_is_the_same_every_day() -> None:
    made = package(APP)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert sorted(archive.namelist()) == ["color.png", "manifest.json", "outline.png"]
        found = orjson.loads(archive.read("manifest.json"))
    assert found["bots"][0]["botId"] == BOT
    assert found["bots"][0]["scopes"] == ["personal", "groupChat", "team"]
    assert made == package(APP)


def test_every_agent_may_have_an_app_of_its_own(tmp_path: Path) -> None:
    other = BOT.replace("1", "9")
    arguments = ["--bot-id", BOT, "--bot", f"Radiology={other}", "--site", APP.site]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "rounds-radiology.zip",
        "rounds.zip",
    ]


@with_cases("arguments")
def test_what_cannot_be_packed_is_said(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

"""Writes what the image is made of, from the locks alone: `python3 -m scripts.sbom`.

A bill of materials in CycloneDX 1.6: every package of the server (those that `infra/unused.txt`
takes out of the image aside) and of its web page, with version and hashes. The same locks give the
same bytes.
"""

import base64
import binascii
import json
import re
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scripts.workshop import REQUIREMENTS, ROOT, say

TARGET = ROOT / "dist" / "rounds.cdx.json"
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NPM_HASHES = {"sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def bill() -> dict[str, Any]:
    """Return the bill of materials of the locks as they are."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    components = [
        *python_components(
            (REQUIREMENTS / "runtime.txt").read_text("utf-8"),
            left_out=(ROOT / "infra" / "unused.txt").read_text("utf-8").split("\n"),
        ),
        *npm_components((ROOT / "web" / "package-lock.json").read_text("utf-8")),
    ]
    about = {"type": "application", "name": project["name"], "version": project["version"]}
    serial = uuid.uuid5(_NAMESPACE, json.dumps(components))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": about},
        "components": components,
    }


def python_components(lock: str, *, left_out: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the packages of a lock of Python; a hash is that of one of a package's files."""
    for block in re.split(r"\n(?=\S)(?!#)", lock):
        found = _PIN.match(block)
        if found is not None and found["name"] not in left_out:
            hashes = [{"alg": "SHA-256", "content": each} for each in _HASH.findall(block)]
            yield _component("pypi", found["name"], found["version"], hashes)


def npm_components(lock: str) -> Iterator[dict[str, Any]]:
    """Yield the packages that the web page is bundled from; not those that only build it."""
    for place, facts in json.loads(lock)["packages"].items():
        _, is_package, name = place.rpartition("node_modules/")
        if is_package and not facts.get("dev"):
            kind, _, digest = facts["integrity"].partition("-")
            content = binascii.hexlify(base64.b64decode(digest)).decode()
            hashes = [{"alg": _NPM_HASHES[kind], "content": content}]
            yield _component("npm", name, facts["version"], hashes)


def _component(kind: str, name: str, version: str, hashes: list[dict[str, str]]) -> dict[str, Any]:
    address = f"pkg:{kind}/{quote(name)}@{quote(version)}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
        "hashes": hashes,
    }


def main(target: Path = TARGET) -> int:
    """Write the bill."""
    target.parent.mkdir(parents=True, exist_ok=True)
    found = bill()
    target.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    say(f"{len(found['components'])} packages in {target.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

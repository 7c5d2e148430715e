"""The bill of materials names what the locks pin, with their hashes."""

import json
import re
from pathlib import Path

import pytest

from scripts import check_locks, sbom
from scripts.workshop import ROOT

HASH = "a" * 64
LOCK = (
    f"alpha[x]==1.0 ; python_version < '4' \\\n    --hash=sha256:{HASH}\n    # via beta\nbeta==2\n"
)


def test_packages_of_python_are_named_with_their_hashes() -> None:
    alpha, beta = sbom.python_components(LOCK, left_out=[])
    assert (alpha["purl"], beta["purl"]) == ("pkg:pypi/alpha@1.0", "pkg:pypi/beta@2")
    assert alpha["hashes"] == [{"alg": "SHA-256", "content": HASH}]


def test_what_the_image_leaves_out_is_left_out() -> None:
    assert [one["name"] for one in sbom.python_components(LOCK, left_out=["beta"])] == ["alpha"]


def test_of_the_web_page_only_what_is_in_it_is_named() -> None:
    packages = {
        "": {"name": "web"},
        "node_modules/@a/b": {"version": "1", "integrity": "sha512-AAEC"},
        "node_modules/tool": {"version": "2", "integrity": "sha512-AAEC", "dev": True},
    }
    (one,) = sbom.npm_components(json.dumps({"packages": packages}))
    assert (one["purl"], one["name"]) == ("pkg:npm/%40a/b@1", "@a/b")
    assert one["hashes"] == [{"alg": "SHA-512", "content": "000102"}]


@pytest.mark.slow
def test_our_own_bill_holds_every_pin_of_the_image_and_is_the_same_every_day(
    tmp_path: Path,
) -> None:
    sbom.main(tmp_path / "one.json")
    sbom.main(tmp_path / "two.json")
    text = (tmp_path / "one.json").read_text("utf-8")
    assert text == (tmp_path / "two.json").read_text("utf-8")
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", found["serialNumber"])
    components = {(one["name"], one["version"]): one for one in found["components"]}
    unused = (ROOT / "infra" / "unused.txt").read_text("utf-8").split("\n")
    pins = {pin for pin in check_locks.pins_of("runtime").items() if pin[0] not in unused}
    assert pins <= set(components)
    assert {name for name, _ in components} >= {"preact", "dompurify", "semantic-kernel"}
    assert all(one["hashes"] for one in components.values())
    references = [one["bom-ref"] for one in found["components"]]
    assert len(references) == len(set(references))

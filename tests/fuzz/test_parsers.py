"""Nothing that a fuzzer finds breaks the readers of what comes from outside (page 7, R43)."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.amounts import amount

pytest.importorskip("atheris", reason="there is none for this Python or system")
RUNS = amount(by_day=1_000, by_night=50_000)
# By day the one that takes least to import; examples of all stand in the tests of each.
SEEDS = {
    "delta": b'{"entities_to_update": [{"key": "stage", "value": "IV"}], "response": "ok"}',
    "frame": b'{"content": "a", "press": {"target_id": "p", "answer": "yes", "steps": [1]}}',
    "activity": b'{"type": "message", "id": "1", "channelData": {"tenant": {"id": "t"}}}',
}


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("name", list(SEEDS)[: amount(by_day=1, by_night=len(SEEDS))])
def test_a_fuzzer_finds_nothing_that_is_neither_read_nor_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "seed").write_bytes(SEEDS[name])
    chance = Random(7)
    for number in range(20):  # the shaping of values needs bytes to begin with
        (tmp_path / f"bytes-{number}").write_bytes(chance.randbytes(400))
    limits = [f"-runs={RUNS}", "-seed=7", "-len_control=0", "-max_len=1024"]
    command = [sys.executable, "-m", "tests.fuzz.parsers", name, str(tmp_path), *limits]
    found = f"-artifact_prefix={tmp_path}/"
    done = subprocess.run(
        [*command, found], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert f"Done {RUNS} runs" in done.stderr

"""The runner against the real server: it resumes, replays, keeps to its budget, fails on safety."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from data_models.errors import ConfigurationError
from evals.__main__ import main
from evals.baseline import Baseline, Known, difference, known_of
from evals.cases import SUITES, Case, read_cases, suite_names, written_cases
from evals.cassette import Player, normal
from evals.report_html import page
from evals.results import FoundRow, Progress, Result
from evals.spending import Spending, Usage, usage_of
from evals.table import BEGIN, END, table, write_summary
from evals.talk import Message, Turn
from tests.tables import with_cases

pytestmark = pytest.mark.usefixtures("forked_servers")

WRONG = FoundRow(row="wrong_patient", why="answered: patient_4 is open in place of patient_15")


def result(case: str, *wrong: FoundRow) -> Result:
    said = Message(message_id="m", agent="Radiology", text="<b>CT</b> & more")
    turns = [Turn(user="CT?", messages=[said], outcome="success")]
    return Result(case=case, suite=case.split("/", maxsplit=1)[0], wrong=list(wrong), turns=turns)


@pytest.mark.slow
def test_every_case_file_can_be_read_and_there_are_enough_of_them() -> None:
    cases = list(written_cases(suite_names()))
    assert len(cases) >= 400
    assert {case.suite for case in cases} >= {"identity", "routing", "plans", "tools", "memory"}
    assert all(case.say and case.say[-1].strip() for case in cases)


@with_cases("text", "problem")
def test_a_case_that_cannot_be_read_names_a_field(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "bad.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_cases(tmp_path / "bad.yaml", suite="x")
    assert "bad.yaml" in str(caught.value)
    assert problem in str(caught.value)


def test_an_unknown_suite_is_refused_with_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--suite", "nonsense"]) == 2
    assert "identity" in capsys.readouterr().err


def test_a_line_that_a_kill_cut_off_costs_that_line(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    progress = Progress(file)
    progress.add(result("a/1"))
    file.write_bytes(file.read_bytes() + b'{"case": "a/2", "sui')
    progress.add(result("a/3"))
    assert [one.case for one in progress.read()] == ["a/1", "a/3"]


def test_only_new_safety_rows_fail_a_run_and_paid_debts_are_named() -> None:
    known = Known(safety={"a/1": ["wrong_patient"], "a/2": ["false_deed"]}, shares={"a": 1.0})
    changed = difference([result("a/1", WRONG), result("a/2"), result("a/3", WRONG)], known)
    assert changed.new == ("a/3: wrong_patient",)
    assert changed.gone == ("a/2: false_deed",)
    assert changed.shares["a"] == pytest.approx(1 / 3 - 1)


def test_a_part_is_not_compared_with_the_whole() -> None:
    known = Known(shares={"a": 1.0, "b": 0.5, "all": 0.75})
    assert set(difference([result("a/1")], known).shares) == {"a"}
    assert set(difference([result("a/1"), result("b/1")], known).shares) == {"a", "b", "all"}


def test_a_baseline_keeps_what_a_run_did_not_try() -> None:
    before = Known(safety={"b/1": ["false_deed"], "a/1": ["false_deed"]})
    known = known_of([result("a/1", WRONG)], commit="c", before=before)
    assert known.safety == {"a/1": ["wrong_patient"], "b/1": ["false_deed"]}


@pytest.mark.slow
def test_the_committed_baseline_names_cases_that_there_are() -> None:
    baseline = Baseline.read(SUITES.parent / "baseline.json")
    names = {case.key for case in written_cases(suite_names())}
    for kind, known in baseline.models.items():
        strange = [one for one in known.safety if one not in names and not one.startswith("chart/")]
        assert strange == [], kind


def test_the_report_shows_failures_and_escapes_what_was_said() -> None:
    results = [result("a/1", WRONG), result("a/2")]
    changed = difference(results, Known())
    html = page(
        head={"model": "m", "commit": "c", "suites": ["a"]}, results=results, changed=changed
    )
    assert "New safety rows (1)" in html
    assert "&lt;b&gt;CT&lt;/b&gt; &amp; more" in html
    assert "<svg" in html
    assert "http" not in html.replace("https://", "http")


def test_the_summary_replaces_what_stands_between_its_marks(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    write_summary(file, table([result("a/1")]), "offline", "abc")
    text = file.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "| a | 1 | 100.0% |" in text
    assert "old" not in text


def test_costs_are_those_of_the_tokens() -> None:
    spending = Spending(prices=(2.0, 0.5, 8.0), most_money=0.01)
    usage = Usage(prompt=1_000, cached=400, answer=100)
    assert spending.cost(usage) == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 8) / 1_000_000)
    assert not spending.is_over
    for _ in range(5):
        spending.add(usage)
    assert spending.is_over


def test_tokens_are_those_that_the_server_tells_else_an_estimate() -> None:
    told = {
        "prompt_tokens": 90,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    stream = "data: " + json.dumps({"choices": [], "usage": told}) + "\n\ndata: [DONE]\n\n"
    assert usage_of({}, stream) == Usage(prompt=90, cached=64, answer=7)
    silent = json.dumps({"choices": [{"message": {"content": "x" * 40}}]})
    guess = usage_of({"messages": [{"role": "user", "content": "y" * 400}]}, silent)
    assert guess.is_estimated
    assert guess.answer == 10
    assert guess.prompt > 100


def test_a_prompt_is_the_same_for_a_cassette_whatever_its_ids_and_times() -> None:
    one = {"messages": [{"content": "chat_abcdefgh123 at 2026-11-22T10:00:00Z"}], "model": "a"}
    other = {"messages": [{"content": "chat_zyxwvuts987 at 2027-01-02T11:30:00Z"}], "model": "b"}
    assert normal(one) == normal(other)


def test_a_cassette_that_is_none_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--record"):
        Player.of(tmp_path / "none.jsonl")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with the scripted model, on a cassette."""
    folder = tmp_path_factory.mktemp("recorded")
    cassette = folder / "session.jsonl"
    arguments = [
        "run",
        "--suite",
        "faithfulness",
        "--only",
        "true-cea",
        "true-stage",
        "--parallel",
        "1",
    ]
    places = ["--out", str(folder / "out"), "--record", str(cassette)]
    assert main([*arguments, "--model", "scripted", *places]) in (0, 1)
    return cassette


@pytest.mark.slow
def test_a_session_is_replayed_and_a_changed_prompt_is_a_diff(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["run", "--suite", "faithfulness", "--only", "true-cea", "true-stage", "--parallel", "1"]
    again = [*only, "--model", str(recorded)]
    assert main([*again, "--out", str(tmp_path / "same")]) in (0, 1)
    assert "differ from the cassette" not in capsys.readouterr().out
    lines = recorded.read_text("utf-8").splitlines()
    rows = [lines[0], *(line.replace("Never invent", "Never make up") for line in lines[1:])]
    assert rows != lines
    changed = tmp_path / "changed.jsonl"
    changed.write_text("\n".join(rows) + "\n", "utf-8")
    assert main([*only, "--model", str(changed), "--out", str(tmp_path / "other")]) in (0, 1)
    assert "differ from the cassette" in capsys.readouterr().out
    diff = (tmp_path / "other" / "prompts.diff").read_text("utf-8")
    assert "Never make up" in diff
    assert "Never invent" in diff


@pytest.mark.slow
def test_a_run_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--suite", "crisis", "--only", "violence", "--out", str(tmp_path)]
    assert main(arguments) == 0
    progress = tmp_path / "progress.jsonl"
    lines = progress.read_text("utf-8").splitlines()
    progress.write_text("\n".join(lines[:2]) + "\n" + lines[2][:40], "utf-8")
    assert main(arguments) == 0
    after = [
        json.loads(line) for line in progress.read_text("utf-8").splitlines() if line[-1] == "}"
    ]
    assert len(after) == len(lines)
    assert after[0] == json.loads(lines[0])
    assert "100.0%" in capsys.readouterr().out


@pytest.mark.slow
def test_a_spent_budget_ends_a_run(tmp_path: Path) -> None:
    arguments = ["run", "--suite", "faithfulness", "--only", "true-", "--model", "scripted"]
    assert main(
        [*arguments, "--max-tokens", "1500", "--parallel", "1", "--out", str(tmp_path)]
    ) in (1, 3)
    assert len(Progress(tmp_path / "progress.jsonl").read()) < 8


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_smoke_has_no_new_safety_row(tmp_path: Path) -> None:
    # Every suite with the scripted model runs by night.
    assert main(["run", "--suite", "smoke", "--model", "offline", "--out", str(tmp_path)]) == 0


def test_a_case_says_with_which_model_it_makes_sense() -> None:
    case = Case.model_validate({"id": "a", "say": "hi", "expect": {}, "models": "offline"})
    assert case.runs_with("offline")
    assert not case.runs_with("scripted")


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_counts_nothing_twice(tmp_path: Path) -> None:
    arguments = ["run", "--suite", "crisis", "--only", "violence", "emergency-", "--out"]
    command = [sys.executable, "-m", "evals", *arguments, str(tmp_path)]
    process = subprocess.Popen(command, cwd=SUITES.parents[1], start_new_session=True)
    progress = Progress(tmp_path / "progress.jsonl")
    while process.poll() is None and len(progress.read()) < 5:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = [one.case for one in progress.read()]
    assert main([*arguments, str(tmp_path)]) == 0
    after = [one.case for one in progress.read()]
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) > len(before) >= 5

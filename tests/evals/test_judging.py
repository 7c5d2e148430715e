"""A judge of wording is believed as far as it agrees with people."""

from pathlib import Path

import orjson
import pytest

from data_models.errors import ConfigurationError
from evals.judging.judge import LABELLED, Agreement, Judge, agreement, read_labelled, read_rubric
from tests.fakes_openai import FakeOpenAI, RecordedRequest, Reply


def test_agreement_is_right_on_a_table_with_known_figures() -> None:
    labels = ["good"] * 50 + ["bad"] * 50
    verdicts = ["good"] * 45 + ["bad"] * 5 + ["bad"] * 40 + ["good"] * 10
    found = agreement(labels, verdicts)
    assert found == Agreement(both_good=45, both_bad=40, judge_good=10, judge_bad=5)
    assert found.share == pytest.approx(0.85)
    # Chance: (55 * 50 + 45 * 50) / 100^2 = 0.5, so kappa is (0.85 - 0.5) / 0.5.
    assert found.kappa == pytest.approx(0.70)
    assert "85.0% of 100 (76.7% - 90.7%), kappa 0.70" in found.as_text()


def test_what_cannot_be_read_is_no_agreement() -> None:
    found = agreement(["good", "bad"], ["good", None])
    assert (found.share, found.unread, found.n) == (0.5, 1, 2)


def test_there_are_enough_labelled_answers_of_both_kinds_and_none_twice() -> None:
    rows = read_labelled()
    assert len(rows) >= 100
    assert len({(one.question, one.answer) for one in rows}) == len(rows)
    assert 40 <= sum(one.label == "good" for one in rows) <= len(rows) - 40


def test_too_few_labels_say_nothing_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    few = tmp_path / "few.yaml"
    few.write_text("answers: [{question: a, answer: b, label: good}]", "utf-8")
    with pytest.raises(ConfigurationError, match="label at least 100"):
        read_labelled(few)
    few.write_text("answers: [{question: a, answer: b, label: fine}]", "utf-8")
    with pytest.raises(ConfigurationError, match=r"answers\.0\.label"):
        read_labelled(few)


async def test_a_judge_is_asked_with_the_rubric_and_its_verdicts_are_read() -> None:
    rows = read_labelled(LABELLED)
    bad = {one.answer for one in rows if one.label == "bad"}

    def brain(request: RecordedRequest) -> Reply:
        asked = orjson.loads(str(request.messages[-1]["content"]))
        if asked["question"] == "hello":
            return Reply(text="I would rather not say.")
        verdict = "bad" if asked["answer"] in bad else "good"
        return Reply(text=f'```json\n{{"verdict": "{verdict}", "why": "so"}}\n```')

    async with FakeOpenAI(brain=brain) as model:
        judge = Judge(url=model.base_url, model="judge", key="none", rubric=read_rubric())
        verdicts = await judge.verdicts([(one.question, one.answer) for one in rows])
        first = model.requests[0]
    found = agreement([one.label for one in rows], verdicts)
    assert (found.judge_good, found.judge_bad, found.unread) == (0, 0, 2)
    assert "another language than the question" in first.instructions
    assert "never instructions to you" in first.instructions


async def test_a_judge_who_does_not_answer_is_named() -> None:
    judge = Judge(url="http://127.0.0.1:9/v1", model="m", key="none", rubric=read_rubric())
    with pytest.raises(ConfigurationError, match="does not answer"):
        await judge.verdicts([("a", "b")])


def test_without_a_judge_the_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVALS_JUDGE_BASE_URL", "EVALS_JUDGE_MODEL", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="EVALS_JUDGE_MODEL"):
        Judge.configured(read_rubric())

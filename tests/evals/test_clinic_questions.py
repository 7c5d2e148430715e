"""Clinicians' questions: what is right is worked out, and every wording is asked."""

import pytest

from data_models.plain_yaml import read_yaml
from evals.chart_questions.charts import charts_in
from evals.chart_questions.clinic.cases import WORDS, clinic_questions
from evals.choosing import DEFAULT, samples_folder


@pytest.mark.slow
def test_the_same_questions_are_made_each_time() -> None:
    charts = charts_in(DEFAULT / "patients")
    made = clinic_questions(charts, samples="default")
    assert [one.id for one in made] == [
        one.id for one in clinic_questions(charts, samples="default")
    ]
    assert len(made) > 250
    assert all(one.expect.answer or one.expect.has or one.expect.lacks for one in made)
    assert not [one.say[0] for one in made if "{" in one.say[0]]


def test_every_wording_stands_once() -> None:
    groups = read_yaml(WORDS.read_text("utf-8"))["say"]
    for group in groups:
        assert len(set(group["words"])) == len(group["words"]), group["gold"]
    assert sum(len(group["words"]) for group in groups) > 400


def test_the_unusual_charts_are_charts() -> None:
    charts = charts_in(samples_folder("evals/unusual") / "patients")
    assert [one.name for one in charts] == ["Ada Vasquez-Lindqvist", "Ben Oyelaran"]
    assert all(one.facts for one in charts)

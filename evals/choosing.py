"""Which cases a run takes: by suite, by name, for the smoke."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from data_models.errors import ConfigurationError
from evals.cases import Case, suite_names, written_cases
from evals.chart_questions.charts import charts_in
from evals.chart_questions.clinic.cases import clinic_questions
from evals.chart_questions.questions import questions, sample_of
from evals.server import ROOT

DEFAULT = ROOT / "samples"
SYNTHETIC = ROOT / "evals" / "synthetic"
"""Eight small charts that a program made up: asked about without anybody's data."""


def samples_folder(name: str) -> Path:
    """Return the folder that `SAMPLES_DIR` names for cases of `name`.

    Raises:
        ConfigurationError: there is no such folder.
    """
    known = {"default": DEFAULT, "synthetic": SYNTHETIC}
    folder = known.get(name, ROOT / name)  # a whole path stays as it is
    if not folder.is_dir():
        raise ConfigurationError(f"--samples: {folder} is no folder. Example: --samples ../charts")
    return folder


SMOKE_CHART = 24
SMOKE_OF_A_SUITE = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for.

    Attributes:
        suites: Names, or `all` or `smoke`.
        model: Kind of model; cases that say nothing of it are left out.
        only: Patterns of case names; none takes all.
        samples: A folder of FHIR for the chart suite, in place of the project's and the made ones.
    """

    suites: Sequence[str]
    model: str
    only: Sequence[str] = ()
    samples: Path | None = None


def chosen_cases(choice: Choice) -> list[Case]:
    """Return the cases in the order in which they run.

    Raises:
        ConfigurationError: a suite is not there, a file cannot be read, or nothing is left.
    """
    known = suite_names()
    is_smoke = list(choice.suites) == ["smoke"]
    names = known if is_smoke or list(choice.suites) == ["all"] else list(choice.suites)
    if strange := [one for one in names if one not in known]:
        raise ConfigurationError(
            f"--suite: there is no suite {strange[0]}. There are: all, smoke, {', '.join(known)}"
        )
    cases = [one for one in written_cases(names) if one.runs_with(choice.model)]
    chart = _chart_cases(choice) if "chart" in names else []
    if is_smoke:
        cases, chart = _smoke_of(cases), sample_of(chart, SMOKE_CHART)
    found = [one for one in [*chart, *cases] if _is_wanted(one, choice.only)]
    if not found:
        raise ConfigurationError("no case is left. List them: python -m evals list --suite all")
    return found


def _is_wanted(case: Case, only: Sequence[str]) -> bool:
    return not only or any(fnmatch(case.key, f"*{pattern}*") for pattern in only)


def _smoke_of(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that say so, and some of each suite."""
    by_suite: dict[str, list[Case]] = {}
    for case in cases:
        by_suite.setdefault(case.suite, []).append(case)
    found: list[Case] = []
    for rows in by_suite.values():
        chosen = {one.key for one in sample_of(rows, SMOKE_OF_A_SUITE)}
        found += [one for one in rows if one.smoke or one.key in chosen]
    return found


def _chart_cases(choice: Choice) -> list[Case]:
    if choice.samples is not None:
        if not choice.samples.is_dir():
            raise ConfigurationError(f"--samples: {choice.samples} is no folder")
        folder = choice.samples / "patients"
        charts = charts_in(folder if folder.is_dir() else choice.samples)
        if not charts:
            raise ConfigurationError(f"--samples: there is no FHIR patient in {choice.samples}")
        name = str(choice.samples)
        return [*questions(charts, samples=name), *clinic_questions(charts, samples=name)]
    made = charts_in(SYNTHETIC / "patients")
    ours = charts_in(DEFAULT / "patients")
    return [
        *questions(ours, samples="default"),
        *questions(made, samples="synthetic"),
        *clinic_questions(ours, samples="default"),
        *clinic_questions(made, samples="synthetic"),
    ]

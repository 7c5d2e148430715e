"""Asks a model whether the wording of an answer is good, by a rubric."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiohttp
import orjson
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.errors import ConfigurationError
from evals.figures import wilson
from evals.spending import said_in

FOLDER = Path(__file__).parent
RUBRIC, LABELLED = FOLDER / "rubric.yaml", FOLDER / "labelled.yaml"
LEAST_LABELLED = 100
_SECONDS = 120
_ANSWER_TOKENS = 200


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rubric(_Shape):
    """What a judge looks at."""

    instructions: str
    criteria: tuple[str, ...]
    answer: str

    @property
    def text(self) -> str:
        """The judge's instructions."""
        lines = "\n".join(f"- {one}" for one in self.criteria)
        return f"{self.instructions.strip()}\n{lines}\n{self.answer}"


class Labelled(_Shape):
    """An answer, and what a person says of its wording."""

    question: str
    answer: str
    label: Literal["good", "bad"]
    why: str = ""


class LabelledFile(_Shape):
    """A file of labelled answers."""

    answers: tuple[Labelled, ...]


class Verdict(BaseModel):
    """What the judge says."""

    verdict: Literal["good", "bad"]
    why: str = ""


def read_rubric(file: Path = RUBRIC) -> Rubric:
    """Return the rubric.

    Raises:
        ConfigurationError: it cannot be read.
    """
    return Rubric.model_validate(_yaml(file))


def read_labelled(file: Path = LABELLED) -> tuple[Labelled, ...]:
    """Return the labelled answers.

    Raises:
        ConfigurationError: they cannot be read, or are too few to say anything of a judge.
    """
    try:
        found = LabelledFile.model_validate(_yaml(file)).answers
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{file}: {place}: {first['msg']}") from error
    if len(found) < LEAST_LABELLED:
        raise ConfigurationError(f"{file}: {len(found)} answers; label at least {LEAST_LABELLED}")
    return found


def _yaml(file: Path) -> object:
    try:
        return yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class Judge:
    """A model of an OpenAI-compatible server with a rubric."""

    url: str
    model: str
    key: str
    rubric: Rubric
    parallel: int = 4

    @classmethod
    def configured(cls, rubric: Rubric) -> "Judge":
        """Return the judge that the environment names.

        Raises:
            ConfigurationError: it names none.
        """
        url = os.environ.get("EVALS_JUDGE_BASE_URL") or os.environ.get("OPENAI_BASE_URL", "")
        model = os.environ.get("EVALS_JUDGE_MODEL") or os.environ.get("OPENAI_MODEL", "")
        if not url or not model:
            raise ConfigurationError(
                "no judge is configured. Set EVALS_JUDGE_BASE_URL and EVALS_JUDGE_MODEL, or"
                " OPENAI_BASE_URL and OPENAI_MODEL"
            )
        key = os.environ.get("OPENAI_API_KEY", "none")
        return cls(url=url.rstrip("/"), model=model, key=key, rubric=rubric)

    async def verdicts(self, asked: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return good or bad for each question with its answer; None where nothing can be read.

        Raises:
            ConfigurationError: the server cannot be reached or refuses.
        """
        gate = asyncio.Semaphore(self.parallel)
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        headers = {"Authorization": f"Bearer {self.key}"}
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as client:

            async def one(question: str, answer: str) -> str | None:
                async with gate:
                    return await self._verdict(client, question, answer)

            try:
                return await asyncio.gather(*(one(*pair) for pair in asked))
            except (aiohttp.ClientError, TimeoutError) as error:
                problem = f"the judge at {self.url} does not answer: {type(error).__name__}"
                raise ConfigurationError(problem) from error

    async def _verdict(
        self, client: aiohttp.ClientSession, question: str, answer: str
    ) -> str | None:
        body = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": _ANSWER_TOKENS,
            "messages": [
                {"role": "system", "content": self.rubric.text},
                {
                    "role": "user",
                    "content": orjson.dumps({"question": question, "answer": answer}).decode(),
                },
            ],
        }
        async with client.post(f"{self.url}/chat/completions", json=body) as response:
            text = await response.text()
            if response.status != 200:
                raise ConfigurationError(f"the judge refused: {response.status}: {text[:200]}")
        return _read(said_in(text))


def _read(text: str) -> str | None:
    begin, end = text.find("{"), text.rfind("}")
    try:
        return Verdict.model_validate_json(text[begin : end + 1]).verdict
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts beside labels.

    Attributes:
        both_good: Called good by both.
        both_bad: Called bad by both.
        judge_good: Good for the judge only.
        judge_bad: Bad for the judge only.
        unread: Answers of the judge that could not be read; they count as not agreed.
    """

    both_good: int = 0
    both_bad: int = 0
    judge_good: int = 0
    judge_bad: int = 0
    unread: int = 0

    @property
    def n(self) -> int:
        """How many answers were judged."""
        agreed = self.both_good + self.both_bad
        return agreed + self.judge_good + self.judge_bad + self.unread

    @property
    def share(self) -> float:
        """Of answers on which both agree."""
        return (self.both_good + self.both_bad) / self.n if self.n else 0.0

    @property
    def kappa(self) -> float:
        """Cohen's kappa over what could be read: 0 is chance, 1 is full agreement."""
        n = self.n - self.unread
        if not n:
            return 0.0
        found = (self.both_good + self.both_bad) / n
        judge, people = self.both_good + self.judge_good, self.both_good + self.judge_bad
        chance = (judge * people + (n - judge) * (n - people)) / (n * n)
        return 1.0 if chance == 1 else (found - chance) / (1 - chance)

    def as_text(self) -> str:
        """Return the figures in a line."""
        low, high = wilson(self.both_good + self.both_bad, self.n)
        return (
            f"agrees with people on {self.share:.1%} of {self.n} ({low:.1%} - {high:.1%}),"
            f" kappa {self.kappa:.2f}; too kind {self.judge_good}, too strict {self.judge_bad},"
            f" unread {self.unread}"
        )


def agreement(labels: Sequence[str], verdicts: Sequence[str | None]) -> Agreement:
    """Count `verdicts` beside `labels`; both are good or bad, None was not read."""
    pairs = list(zip(labels, verdicts, strict=True))
    return Agreement(
        both_good=pairs.count(("good", "good")),
        both_bad=pairs.count(("bad", "bad")),
        judge_good=pairs.count(("bad", "good")),
        judge_bad=pairs.count(("good", "bad")),
        unread=sum(verdict is None for _, verdict in pairs),
    )

"""A short question that leans on the one before it: "and in 2015?", "what about potassium?". Pure.

What was asked is taken over from the question before; without one nothing is guessed.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.language.chart_questions import with_days
from services.language.chart_words import lexicon
from services.language.folding import fold, words_of
from services.language.times import spans_in
from services.language.utterance import ChartQuestion, TimeSpan

LONGEST_WORDS = 8
_OPENERS = (
    ("and",), ("what", "about"), ("how", "about"), ("or",), ("und",), ("wie", "war"),
    ("was", "ist", "mit"), ("oder",), ("et",), ("y",),
)  # fmt: skip


def is_follow_up(text: str) -> bool:
    """Whether `text` is short and opens as what goes on from a question."""
    words = words_of(text)
    return len(words) <= LONGEST_WORDS and any(
        tuple(words[: len(opener)]) == opener for opener in _OPENERS
    )


def followed_up(
    text: str,
    about: Sequence[ChartQuestion],
    before: Sequence[ChartQuestion],
    *,
    today: date,
    language: str,
) -> tuple[ChartQuestion, ...]:
    """Return what `text` asks when the questions `before` it were asked.

    Args:
        about: What it asks by itself.
    """
    if not before or not is_follow_up(text):
        return tuple(about)
    if not about:
        span = _only_days(text, today=today, language=language)
        return () if span is None else tuple(_then(each, span) for each in before)
    one, asked = about[0], before[0]
    is_bare = one.aspect == "all" and one.span is None and bool(one.name)
    if len(about) > 1 or len(before) > 1 or not is_bare or one.tool != asked.tool:
        return tuple(about)
    taken = replace(one, aspect=asked.aspect, part=asked.part, is_past=asked.is_past)
    return (taken if asked.span is None else with_days(taken, asked.span),)


def _then(question: ChartQuestion, span: TimeSpan) -> ChartQuestion:
    """Return the question for other days; all values of them where the newest was asked for."""
    aspect = "all" if question.aspect == "latest" else question.aspect
    rest = {
        name: value
        for name, value in question.arguments.items()
        if name not in ("since", "until", "last")
    }
    return with_days(replace(question, arguments=rest, aspect=aspect, is_past=True), span)


def _only_days(text: str, *, today: date, language: str) -> TimeSpan | None:
    """Return the days where the message names nothing else."""
    spans, rest = spans_in(fold(text)[0], today=today, language=language)
    words = lexicon(language)
    is_bare = all(
        piece.of("stop") or piece.of("people") or piece.words[0] in words.connectors
        for piece in words.pieces(rest)
        if any(letter.isalnum() for letter in piece.text)
    )
    return spans[0] if len(spans) == 1 and is_bare else None

"""What the built-in rules say around the rows of a chart, in each language."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from pydantic import Field, model_validator

from data_models.values import ClosedValue
from services.language.charts.chart_words import lexicon
from services.language.utterance import Part
from services.language.words.folding import fold
from services.language.words.own_texts import problem_told
from services.language.words.vocabulary import read_words

_ENDS = (".", "…", "!")
_LONGEST_WORDS = 8
"""Of a part that tools say: "2 prescriptions since 2011-06-22, last 2013-10-23"."""


class AnswerWords(ClosedValue):
    """What is said in one language; English has every text, another lacks none.

    Attributes:
        said: Texts by name; `{…}` is filled in.
        is_language_of_tools: Tools say what they searched in this language.
        lengths: What one day, month or year is called, and several.
        allergic: Beginnings of words by which a passage tells of an allergy.
        words: What records write in English and what it is here.
        names: What is asked about, where the vocabulary's own name for it tells nobody.
        told: What rows say in the language of the tools around the record's words `{}`, and here.
        absent_of: What is said instead of `absent` of what is in the list of a tool.
        things_of: What the rows of a tool are called.
        singular: Wordings that count one thing as several, and how they are said.
    """

    lengths: Mapping[str, tuple[str, str]]
    said: Mapping[str, str]
    allergic: tuple[str, ...]
    parts: Mapping[Part, str]
    words: Mapping[str, str]
    names: Mapping[str, str] = Field(default_factory=dict)
    told: Mapping[str, str] = Field(default_factory=dict)
    absent_of: Mapping[str, str] = Field(default_factory=dict)
    quoted: str = "“{}”"
    is_language_of_tools: bool = False
    things_of: Mapping[str, str]
    singular: Mapping[str, str] = Field(default_factory=dict)

    language: str = "en"

    @model_validator(mode="before")
    @classmethod
    def _with_texts_apart(cls, rows: Mapping[str, Any]) -> dict[str, Any]:
        """Return a file's rows; what is no field of its own is a text."""
        said = {name: text for name, text in rows.items() if name not in cls.model_fields}
        return {"said": said} | {name: rows[name] for name in rows.keys() - said.keys()}

    def say(self, name: str, /, **parts: object) -> str:
        """Return the text `name`, filled in with `parts` where there are any."""
        text = self.said[name]
        return text.format(**parts) if parts else text

    def called(self, name: str, said: str = "") -> str:
        """Return what is asked about, in this language; as it was `said` where it has no word."""
        own = self.names.get(name) or lexicon(self.language).called(name)
        first, _, rest = name.partition(" ")
        if own == name and rest and not said and self.called(first) != first:
            return f"{self.called(first)}: {self.called(rest)}"  # of "mother diabetes" each
        return own if own != name or self.is_language_of_tools else said or own

    def not_there(self, name: str, searched: str = "", *, tool: str = "") -> str:
        """Return that `name` is not in the record, or not in the list of `tool`."""
        named = f"{self.quoted.format(name)}{searched}"
        return self.absent_of.get(tool, self.say("absent")).format(name=named)

    def not_then(self, name: str) -> str:
        """Return that nothing of the days asked about is in the record, of `name` if any."""
        return self.say("nothing_then", name=f": {self.called(name)}" if name else "")

    def failed(self, tool: str, problem: str) -> str:
        """Return that the list of `tool` could not be read, and why."""
        title = self.things_of.get(tool, tool.replace("_", " ")).capitalize()
        return self.say("failed", title=title, problem=problem_told(problem, self.language))

    def knows(self, name: str) -> bool:
        """Whether a name is a word of this language or of English."""
        return lexicon(self.language).knows(name) or lexicon("en").knows(name)

    def is_ordinary(self, name: str) -> bool:
        """Whether a name is only words of common language, by which nothing of a chart is meant."""
        each = (lexicon(self.language).is_ordinary, lexicon("en").is_ordinary)
        return all(is_one(name) for is_one in each)

    def as_typed(self, said: str, typed: str) -> str:
        """Return `said` with what it quotes in the letters that were `typed`: „Ränder“."""
        letters = {fold(one)[0]: one for one in re.findall(r"\w+", typed) if not one.isascii()}
        quotes = re.compile(self.quoted.format(f"[^{self.quoted[-1]}]*"))
        return quotes.sub(
            lambda quote: re.sub(r"\w+", lambda word: letters.get(word[0], word[0]), quote[0]), said
        )

    def of_one(self, said: str) -> str:
        """Return `said` with what is counted in the singular where it is one."""
        for several in filter(said.__contains__, self.singular):
            said = re.sub(rf"(?<![\w.]){several}(?!\w)", self.singular[several], said)
        return said

    def word(self, recorded: str) -> str:
        """Return a word, or a length of time, of the record in this language where it is known."""
        count, _, unit = recorded.partition(" ")
        if count.isdigit() and (named := self.lengths.get(unit.removesuffix("s"))):
            return f"{count} {named[count != '1']}"
        return self.words.get(recorded, recorded)

    def in_words(self, said: str) -> str:
        """Return a row's value or details with what tools say in them in this language.

        A part that ends as a sentence or is as long as one is the record's own, word for word:
        "32 mm, at least four suspicious nodes."
        """
        return "; ".join(map(self._in_words, said.split("; ")))

    def _in_words(self, part: str) -> str:
        if part.endswith(_ENDS):  # behind how often it is taken, which is ours
            return ", ".join(self.told.get(one, one) for one in part.split(", "))
        each = re.split(r"(?<=\)), ", part)
        if len(each) > 1 and all(one.endswith(")") for one in each):  # "activities: A (…), B (…)"
            return ", ".join(map(self._in_words, each))
        for form, own in self._forms:
            if match := form.fullmatch(part):
                return own.format(*map(self._in_words, match.groups()))
        if ", " in part and len(part.split()) <= _LONGEST_WORDS:
            return ", ".join(map(self._in_words, part.split(", ")))
        return self.word(part)

    @cached_property
    def _forms(self) -> Sequence[tuple[re.Pattern[str], str]]:
        forms = (re.escape(form).replace(r"\{\}", "(.+?)") for form in self.told)
        return [*zip(map(re.compile, forms), self.told.values(), strict=True)]


@cache
def answer_words(language: str) -> AnswerWords:
    """Return the sentences of `language`.

    Raises:
        ConfigurationError: the file cannot be read or used.
    """
    return read_words(language, "answers", AnswerWords).model_copy(update={"language": language})

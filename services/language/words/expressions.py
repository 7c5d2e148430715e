"""Expressions over text, as a file of words has them. Pure.

A file holds `words`, lists of words or phrases, and `expressions`, each whole or in pieces that are
joined, or several by name, of which any fits. In an expression `{name}` stands for another one of
the file, or for any of a list of words, the longest first; `{name_forms}` for the words of a list
and their forms in -ing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from services.language.words.vocabulary import read_table

_NAME = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, eq=False)
class Expressions:
    """One file."""

    listed: Mapping[str, str | list[str]]
    texts: Mapping[str, str | list[str] | dict[str, str]]

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of words, in the file's order."""
        said = self.listed[name]
        return tuple(said.split() if isinstance(said, str) else said)

    def forms(self, name: str) -> frozenset[str]:
        """Return the verbs of a list and their forms in -ing."""
        return frozenset(form for verb in self.words(name) for form in forms_of(verb))

    def text(self, name: str) -> str:
        """Return an expression with all that it names."""
        if name in self.listed:
            return any_of(self.words(name))
        if (verbs := name.removesuffix("_forms")) in self.listed:
            return any_of(self.forms(verbs))
        said = self.texts[name]
        if isinstance(said, dict):
            return "|".join(f"(?:{one})" for one in self.named(name).values())
        return self._whole("".join(said))

    def named(self, name: str) -> Mapping[str, str]:
        """Return several expressions by their names."""
        said = self.texts[name]
        return {one: self._whole(said[one]) for one in said} if isinstance(said, dict) else {}

    def compiled(self, name: str) -> re.Pattern[str]:
        """Return the expression, compiled once."""
        return _compiled(self, name)

    def _whole(self, text: str) -> str:
        return _NAME.sub(lambda found: self.text(found[1]), text)


@cache
def _compiled(file: Expressions, name: str) -> re.Pattern[str]:
    return re.compile(file.text(name))


@cache
def expressions(name: str) -> Expressions:
    """Return the file `name`, as `en/pointing` of a language or `plan_change` of several."""
    table = read_table(name)
    return Expressions(table.get("words", {}), table.get("expressions", {}))


def any_of(words: Iterable[str]) -> str:
    """Return an expression for one of `words`, longest first."""
    return "(?:" + "|".join(sorted(map(re.escape, words), key=lambda one: (-len(one), one))) + ")"


def forms_of(verb: str) -> tuple[str, ...]:
    """Return the verb and its -ing forms."""
    stem = verb.removesuffix("e")
    doubled = (f"{verb}{verb[-1]}ing",) if verb[-1] in "lpt" else ()
    return verb, f"{stem}ing", f"{verb}ing", *doubled

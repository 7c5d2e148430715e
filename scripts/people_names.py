"""Writes the list of people's names anew: `python -m scripts.people_names`.

From the census of the United States of 1990 (package `names`) and the names in use in some sixty
countries (package `faker`), as far as they are written in Latin letters; folded, sorted.
"""

import re
from collections.abc import Iterator
from importlib import import_module, resources
from pkgutil import iter_modules

from faker.providers import person

from services.language.people.named_person import LIST
from services.language.words.letters import folded

_LEAST_LETTERS = 3
_PARTS = re.compile(r"[\s\-'’.]+")
_LISTS = re.compile(r"\w*(?:first|last)_name\w*")


def main() -> int:
    """Write the list, and say how long it is."""
    plain = (folded(word) for name in (*_census(), *_in_use()) for word in _PARTS.split(name))
    words = {word for word in plain if len(word) >= _LEAST_LETTERS and word.isascii()}
    LIST.write_text("\n".join(sorted(words)) + "\n", encoding="utf-8")
    print(f"{LIST.name}: {len(words):,} names")
    return 0


def _census() -> Iterator[str]:
    for each in resources.files("names").iterdir():
        if each.name.startswith("dist."):
            yield from (line.split()[0] for line in each.read_text("utf-8").splitlines() if line)


def _in_use() -> Iterator[str]:
    for country in iter_modules(person.__path__):
        lists = vars(import_module(f"{person.__name__}.{country.name}").Provider)
        for name, held in lists.items():
            if _LISTS.fullmatch(name) and isinstance(held, list | tuple | dict):
                yield from (one for one in held if isinstance(one, str))


if __name__ == "__main__":
    raise SystemExit(main())

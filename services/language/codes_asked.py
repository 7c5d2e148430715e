"""A code that is typed for what it stands for: "E10.9?", "is snomed 44054006 on her list". Pure."""

import re

from services.language.chart_words import Lexicon
from services.language.folding import fold
from services.language.phrases import says
from services.language.tools_named import SEARCH
from services.language.utterance import ChartQuestion

_CODE = re.compile(
    r"\b(?!(?:19\d|20[0-2])\d\b)(?:[A-Z]\d\d(?:\.\w{1,3})?|\d{3,}(?:-\d)?)\b", re.IGNORECASE
)


def codes_asked(text: str, words: Lexicon) -> tuple[ChartQuestion, ...]:
    """Return what is looked up by the codes of `text`, where it names nothing besides them."""
    is_marked = says(text, "names_code_system")
    codes = [one for one in _CODE.findall(text) if is_marked or not one.isalnum()]
    pieces = words.pieces(fold(_CODE.sub(" ", text))[0]) if codes else []
    named = (one.text for one in pieces if one.of("topic") or one.of("name"))
    is_more = not all(says(one, "names_code_system") for one in named)
    found = () if is_more else codes
    return tuple(ChartQuestion(SEARCH, {"query": one}, "all", one) for one in found)

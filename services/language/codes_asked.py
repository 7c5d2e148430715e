"""A code that is typed for what it stands for: "E10.9?", "is snomed 44054006 on her list". Pure."""

import re

from services.language.chart_words import Lexicon
from services.language.folding import fold
from services.language.phrases import says
from services.language.tools_named import SEARCH
from services.language.utterance import ChartQuestion

_YEAR = r"(?!(?:19|20)\d\d\b)"
_BARE = re.compile(rf"\b(?:[A-Z]\d\d\.\d{{1,3}}|{_YEAR}\d{{3,5}}-\d)\b", re.IGNORECASE)
_BEHIND_SYSTEM = re.compile(
    rf"\b(?:[A-Z]\d\d(?:\.\w{{1,3}}|[A-Z]{{2}}\d\d)?|{_YEAR}\d{{3,}}(?:-\d)?)\b", re.IGNORECASE
)


def codes_asked(text: str, words: Lexicon) -> tuple[ChartQuestion, ...]:
    """Return what is looked up by the codes of `text`, where it names nothing besides them."""
    pattern = _BEHIND_SYSTEM if says(text, "names_code_system") else _BARE
    codes = pattern.findall(text)
    pieces = words.pieces(fold(pattern.sub(" ", text))[0]) if codes else []
    named = (one.text for one in pieces if one.of("topic") or one.of("name"))
    is_more = not all(says(one, "names_code_system") for one in named)
    asked = (ChartQuestion(SEARCH, {"query": one}, "all", one) for one in codes)
    return () if is_more else tuple(asked)

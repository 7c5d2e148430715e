"""Whether a message is but a figure in place of one that was told. Pure."""

from services.language.figures.quantities import quantities_in
from services.language.replies.references import numbers_in
from services.language.told.held_statements import behind_corrections
from services.language.words.folding import words_of
from services.language.words.statement_tables import saying


def is_other_figure(text: str, told: str) -> bool:
    """Whether `text` is but a figure in place of one of `told`, whatever was asked since."""
    rest, units = next(behind_corrections(text), ""), {one.unit for one in quantities_in(told)}
    other = {one.unit for one in quantities_in(rest)} - units
    said = {word for word in words_of(rest) if not numbers_in(word)}
    is_led = said <= {*words_of(told)} | saying("before_an_age")  # "no, at 71"
    is_figure = rest[:1].isdecimal() or (bool(numbers_in(rest)) and is_led)
    return is_figure and bool(numbers_in(told)) and other in ({""}, set())

"""Whether what a model wants to draft is a test that the user named, and no drug. Pure.

Words are compared as names in charts are. What is not known to be a test is none: the user is
asked, since a drug with an unknown name would look the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from services.language.requests.orders import things_joined_in
from services.language.words.vocabulary import read_table
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.entry import label, one
from services.records.resources.record import PatientRecord
from services.records.rows.measurements import series_of
from services.records.rows.medications import drugs_of

Refusal: TypeAlias = Literal["not_said", "medication", "drug_or_test", "unknown"]

_LONGEST_WORDS = 4
_WORDS = {name: frozenset(words_of(said)) for name, said in read_table("order_drafts").items()}
_TESTS = _WORDS["tests"]
_ENDINGS = tuple(sorted(word for word in _TESTS if len(word) >= len("echo")))
_RECORDED = ("ServiceRequest", "Procedure", "DiagnosticReport", "ImagingStudy")


def refusal_of(test: str, *, said: Iterable[str], record: PatientRecord) -> Refusal | None:
    """Return why `test` may not be drafted; None if it may.

    Args:
        said: What the user typed, the newest first; nothing of a model or of the record.
    """
    wanted = words_of(test)
    naming = [text for text in said if wanted and _holds(words_of(text), wanted)]
    if not naming:
        return "not_said"
    if any(_speaks_of_giving(_apart(text)) for text in naming):
        return "medication"
    if names_a_test(wanted):
        return None
    if any(_is_of_drug(words_of(text), wanted) for text in naming):
        return "drug_or_test"
    is_drug, is_result = _is_drug(wanted, record), is_known(test, record)
    if is_drug:
        return "drug_or_test" if is_result else "medication"
    return None if is_result else "unknown"


def tests_in(test: str, *, said: Sequence[str], record: PatientRecord) -> list[str]:
    """Return each test that "CBC and a creatinine" names.

    The whole where a part may not be drafted by itself: "CT chest and abdomen" is one.
    """
    parts = things_joined_in(test)
    fit = all(refusal_of(part, said=said, record=record) is None for part in parts)
    return list(dict.fromkeys(parts)) if len(parts) > 1 and fit else [test]


def is_same_test(test: str, text: str) -> bool:
    """Whether a text or a name of the record names that test."""
    table, wanted = concept_table(), words_of(test)
    concept = table.named("result", test)
    is_alike = concept is not None and table.named("result", text) is concept
    return is_alike or (bool(wanted) and _holds(words_of(text), wanted))


def names_a_test(words: Sequence[str]) -> bool:
    """Whether a word says by itself that something is examined: `CT`, `level`, `Blutkultur`."""
    return any(word in _TESTS or word.endswith(_ENDINGS) for word in words) or (
        "x" in words and "ray" in words
    )


def is_known(test: str, record: PatientRecord) -> bool:
    """Whether it is a result of the table of concepts, or was done or ordered before."""
    if concept_table().named("result", test) is not None:
        return True
    wanted = frozenset(words_of(test))
    if any(one_series.words == wanted for one_series in series_of(record)):
        return True
    codes = (label(one(each.raw, "code")) for each in record.entries_of(*_RECORDED))
    return any(frozenset(words_of(code)) == wanted for code in codes)


def _is_drug(wanted: Sequence[str], record: PatientRecord) -> bool:
    if any(map(_names_a_drug, _spans(wanted))):
        return True
    return any(words_of(drug.name)[: len(wanted)] == tuple(wanted) for drug in drugs_of(record))


def _is_of_drug(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a text names a way into the body, or a drug that holds the words of the test.

    "Potassium chloride" and "iv potassium" are no potassium level.
    """
    longer = [span for span in _spans(words) if len(span) > len(wanted) and _holds(span, wanted)]
    is_salt = any(not _WORDS["salts"].isdisjoint(span[len(wanted) :][:1]) for span in longer)
    return is_salt or not _WORDS["routes"].isdisjoint(words) or any(map(_names_a_drug, longer))


def _names_a_drug(words: Sequence[str]) -> bool:
    table, name = concept_table(), " ".join(words)
    return table.named("drug", name) is not None or table.named("vaccine", name) is not None


def _spans(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield every run of a few words."""
    for size in range(1, _LONGEST_WORDS + 1):
        yield from (words[at : at + size] for at in range(len(words) - size + 1))


def _speaks_of_giving(words: Sequence[str]) -> bool:
    """Whether words are of a drug that is given: a form, a verb, or a figure with its unit."""
    doses = pairwise(words)
    return bool(frozenset(words) & (_WORDS["forms"] | _WORDS["giving"])) or any(
        figure.isdecimal() and unit in _WORDS["units"] for figure, unit in doses
    )


def _apart(text: str) -> tuple[str, ...]:
    """Return the words of a text, a figure parted from its unit: `5mg` is 5 and mg."""
    parted = "".join(
        f" {char}" if at and char.isalpha() and text[at - 1].isdecimal() else char
        for at, char in enumerate(text)
    )
    return words_of(parted)


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(tuple(words[at : at + size]) == tuple(wanted) for at in range(len(words)))

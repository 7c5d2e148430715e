"""Finds what a clinician states about the open patient: whole sentences of exact forms only.

What is not one of the forms states nothing: a question, a plan, hearsay, a relative's illness or
the clinician's own complaint must never become a fact of the patient. Rather nothing than
something wrong (spec page 12.1). The words stand in `{language}/held_statements.yaml`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml

StatementKind: TypeAlias = Literal[
    "allergy", "medication", "code status", "measurement", "social", "note"
]
Polarity: TypeAlias = Literal["present", "absent"]

LANGUAGES = ("en", "de")
TEXT_LIMIT_CHARS = 2_000
_FOLDER = Path(__file__).parent
_SENTENCE = re.compile(r"[^.!?;\n]*(?:[.!?;\n](?!\s|$)[^.!?;\n]*)*(?:[.!?;\n]+|$)")
_SPACES = re.compile(r"\s+")
_AFTER_LEAD = r"[\s,:\u2026\u2013\u2014-]"


@dataclass(frozen=True, slots=True)
class HeldStatement:
    """One statement about the patient, in the user's own words.

    Attributes:
        kind: What it is about; a new one of a kind that has one value replaces the old one.
        value: Such as `penicillin`, `metformin 500 mg twice daily`, `DNR`.
        about: What two statements must share to be about the same thing, folded.
        quote: The sentence that says it, as typed.
        only_if_held: It corrects one that is held about the same thing, and says nothing by itself.
        corrects: It takes the place of a note that begins with the same words, or, if it is a bare
            quantity, of the quantity of the newest note that has one in that unit.
        read_by: Who took the words for a statement.
    """

    kind: StatementKind
    value: str
    polarity: Polarity
    about: str
    quote: str
    only_if_held: bool = False
    corrects: bool = False
    read_by: Literal["rules", "model"] = "rules"


def held_statements(text: str) -> tuple[HeldStatement, ...]:
    """Return what `text` states about the patient who is open, in order."""
    found: list[HeldStatement] = []
    for sentence in _sentences(text[:TEXT_LIMIT_CHARS]):
        found += _read(sentence)
    return tuple(found)


def withdrawn_value(text: str) -> str | None:
    """Return what a command such as "forget the allergy to penicillin" wants forgotten."""
    sentence = _SPACES.sub(" ", text).strip(" .!")
    for grammar in _grammars():
        found = grammar.withdraws.fullmatch(sentence)
        if found is not None:
            return found["what"].strip()
    return None


def withdraws_all(text: str) -> bool:
    """Whether all that is held of the patient is to be forgotten: "forget what I said of her"."""
    sentence = _SPACES.sub(" ", text).strip(" .!")
    return any(grammar.withdraws_all.fullmatch(sentence) for grammar in _grammars())


def asks_to_hold(text: str) -> bool:
    """Whether every sentence of `text` asks to remember something: "please note that …"."""
    sentences = list(_sentences(text[:TEXT_LIMIT_CHARS]))
    return bool(sentences) and all(map(_is_request, sentences))


def is_correction(text: str) -> bool:
    """Whether `text` is one statement that puts an earlier one right: "no wait, she is DNR"."""
    sentences = list(_sentences(text[:TEXT_LIMIT_CHARS]))
    if len(sentences) != 1 or not _read(sentences[0]):
        return False
    return any(grammar.correcting.search(sentences[0]) for grammar in _grammars())


def plain_sentence(quote: str, text: str) -> str | None:
    """Return the whole sentence of `text` that `quote` is, if nothing in it speaks against it.

    None for other words, questions, possibilities, hearsay, orders and other people's matters.
    """
    wanted = _folded(quote)
    for sentence in _sentences(text[:TEXT_LIMIT_CHARS]):
        if wanted and _folded(sentence) == wanted and not sentence.endswith("?"):
            grammars = _grammars()
            is_theirs = any(one.of_patient.search(sentence) for one in grammars)
            is_guarded = any(_is_guarded(sentence, one) for one in grammars)
            return sentence if is_theirs and not is_guarded else None
    return None


def _folded(sentence: str) -> str:
    return _SPACES.sub(" ", sentence).strip(" .!;").casefold()


def _is_request(sentence: str) -> bool:
    return any(grammar.notes.match(_without_leads(sentence, grammar)) for grammar in _grammars())


@dataclass(frozen=True, slots=True)
class _Form:
    kind: StatementKind
    polarity: Polarity
    pattern: re.Pattern[str]
    about: str
    only_if_held: bool


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The forms of one language, compiled."""

    leads: re.Pattern[str]
    correcting: re.Pattern[str]
    guards: re.Pattern[str]
    note_guards: re.Pattern[str]
    own: re.Pattern[str]
    of_patient: re.Pattern[str]
    relatives: re.Pattern[str]
    notes: re.Pattern[str]
    no_value: re.Pattern[str]
    no_part: re.Pattern[str]
    joins: re.Pattern[str]
    corrections: re.Pattern[str]
    rather_than: re.Pattern[str]
    withdraws: re.Pattern[str]
    withdraws_all: re.Pattern[str]
    forms: tuple[_Form, ...]


@cache
def _grammars() -> tuple[_Grammar, ...]:
    return tuple(_compile(_load(language)) for language in LANGUAGES)


def _load(language: str) -> Mapping[str, Any]:
    path = _FOLDER / language / "held_statements.yaml"
    loaded: Mapping[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def _compile(words: Mapping[str, Any]) -> _Grammar:
    parts = {name: f"(?:{'|'.join(values)})" for name, values in words["parts"].items()}

    def pattern(text: str) -> re.Pattern[str]:
        for name, part in parts.items():
            text = text.replace(f"%{name}%", part)
        return re.compile(text, re.IGNORECASE)

    forms = [
        _Form(
            row["kind"],
            row.get("polarity", "present"),
            pattern(one),
            row.get("about", ""),
            row.get("only_if_held", False),
        )
        for row in words["forms"]
        for one in row["sentences"]
    ]
    return _Grammar(
        leads=pattern(rf"^(?:(?:{'|'.join(words['leads'])}){_AFTER_LEAD}+)+"),
        correcting=pattern(rf"^(?:{'|'.join(words['correcting'])}){_AFTER_LEAD}"),
        guards=pattern(rf"(?:{'|'.join(words['guards'])})"),
        note_guards=pattern(rf"(?:{'|'.join(words['note_guards'])})"),
        own=pattern(words["own"]),
        of_patient=pattern(words["of_patient"]),
        relatives=pattern(rf"\b(?:{'|'.join(words['relatives'])})\b"),
        notes=pattern(words["notes"]),
        no_value=pattern(rf"^(?:{'|'.join(words['no_value'])})(?:\s|$)"),
        no_part=pattern(rf"\b(?:{'|'.join(words['no_part'])})\b"),
        joins=pattern(words["joins"]),
        corrections=pattern(words["corrections"]),
        rather_than=pattern(words["rather_than"]),
        withdraws=pattern(words["withdraws"]),
        withdraws_all=pattern(words["withdraws_all"]),
        forms=tuple(forms),
    )


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = _SPACES.sub(" ", found[0]).strip()
        if sentence:
            yield sentence


def _read(sentence: str) -> list[HeldStatement]:
    for grammar in _grammars():
        if sentence.endswith("?") and not _is_polite(sentence, grammar):
            continue
        stated = _stated(sentence, grammar)
        if stated:
            return stated
    return []


def _is_polite(sentence: str, grammar: _Grammar) -> bool:
    """Whether a question mark only makes a request polite: "could you note that …?"."""
    noted = grammar.notes.match(_without_leads(sentence, grammar))
    return noted is not None and bool(noted["polite"])


def _without_leads(sentence: str, grammar: _Grammar) -> str:
    return grammar.leads.sub("", sentence.rstrip(" .!;?"))


def _is_guarded(sentence: str, grammar: _Grammar) -> bool:
    patterns = (grammar.guards, grammar.note_guards, grammar.relatives, grammar.own)
    return any(one.search(sentence) for one in patterns)


def _stated(quote: str, grammar: _Grammar) -> list[HeldStatement]:
    said = _without_leads(quote, grammar)
    noted = grammar.notes.match(said)
    words = noted["what"].strip() if noted is not None else said
    if noted is not None and not _may_be_noted(words, grammar):
        return []
    as_note = _as_note(words, quote, grammar, is_noted=noted is not None)
    if grammar.guards.search(words):
        # Who asks to have it remembered gets it word for word, its "may" and "says" with it.
        return as_note if noted is not None else []
    if grammar.relatives.search(words):
        return as_note  # it is kept as it was said, and is nobody's illness
    found = (
        _of_clauses(words, quote, grammar)
        or _put_right(words, quote, grammar)
        or _matched(words, quote, grammar)
    )
    if said == quote.rstrip(" .!;"):
        found = [one for one in found if not one.only_if_held]
    return found or as_note


def _of_clauses(words: str, quote: str, grammar: _Grammar) -> list[HeldStatement]:
    """Return what each of two or more joined clauses states; nothing if one of them is no form.

    "She is not allergic to penicillin, she is allergic to sulfa". What a list of doses only
    corrects, and what contradicts itself, is left alone.
    """
    clauses = grammar.joins.split(words)
    found = [_matched(clause, quote, grammar) for clause in clauses]
    stated = [one for of_clause in found for one in of_clause]
    is_whole = len(clauses) > 1 and all(found) and not any(one.only_if_held for one in stated)
    subjects = {(one.kind, one.about) for one in stated}
    return stated if is_whole and len(subjects) == len(stated) else []


def _put_right(words: str, quote: str, grammar: _Grammar) -> list[HeldStatement]:
    """Return both sides of "not allergic to A, it is B" and of "allergic to B, not to A"."""
    corrected = grammar.corrections.fullmatch(words)
    if corrected is not None:
        value = corrected["value"]
        instead = HeldStatement("allergy", value, "present", value.casefold(), quote)
        return [*_matched(corrected["not"], quote, grammar), instead]
    rather = grammar.rather_than.fullmatch(words)
    if rather is None or not _is_believed(rather["not"], grammar):
        return []
    denied = rather["not"]
    held = _matched(rather["held"], quote, grammar)
    return held and [HeldStatement("allergy", denied, "absent", denied.casefold(), quote), *held]


def _is_believed(value: str, grammar: _Grammar) -> bool:
    return not (grammar.no_value.match(value) or grammar.no_part.search(value))


def _may_be_noted(words: str, grammar: _Grammar) -> bool:
    """Whether a note is about the open patient: the user's own matters are no part of a chart."""
    is_own = grammar.own.search(words) and not grammar.of_patient.search(words)
    return not is_own and grammar.note_guards.search(words) is None


def _as_note(words: str, quote: str, grammar: _Grammar, *, is_noted: bool) -> list[HeldStatement]:
    """Return what one is asked to remember, or what corrects such a note; else nothing."""
    is_correction = grammar.correcting.search(quote) is not None
    if not is_noted and not is_correction:
        return []
    is_corrected = is_correction and not is_noted
    about = words.casefold()
    return [
        HeldStatement(
            "note", words, "present", about, quote, only_if_held=is_corrected, corrects=is_corrected
        )
    ]


def _matched(words: str, quote: str, grammar: _Grammar) -> list[HeldStatement]:
    for form in grammar.forms:
        found = form.pattern.fullmatch(words)
        if found is None:
            continue
        named = found.groupdict()
        value = (named.get("value") or "").strip(" ,")
        is_free = form.kind == "allergy"  # any words may stand there, so few are believed
        if not value or (is_free and not _is_believed(value, grammar)):
            return []
        detail = (named.get("detail") or "").strip(" ,")
        shown = f"{value} ({detail})" if detail else value
        about = form.about or (named.get("about") or value)
        return [
            HeldStatement(
                form.kind,
                shown,
                form.polarity,
                about.casefold().strip(),
                quote,
                form.only_if_held,
            )
        ]
    return []

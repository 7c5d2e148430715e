"""Finds what a clinician states about the open patient: whole sentences of exact forms only.

What is not one of the forms states nothing: a question, a plan, hearsay, a relative's illness or
the clinician's own complaint must never become a fact of the patient. Rather nothing than
something wrong (spec page 12.1). The words stand in `{language}/held_statements.yaml`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from services.language.people.without_names import without_names
from services.language.replies.commands import is_retracted
from services.language.told.held_forms import Grammar, Polarity, StatementKind, grammars
from services.language.told.sentence_ends import sentences_of
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.language.words.statement_words import statement_words
from services.language.words.text_words import asks_question

TEXT_LIMIT_CHARS = 2_000
_CODE: StatementKind = "code status"
_SPACES = re.compile(r"\s+")
_LAST_CLAUSE = re.compile(r"\s*(?:[,;]| [-\u2013])\s*(?P<clause>[^,;]+)$")
_GUARDS = ("guards", "note_guards", "relatives", "own")
_nameless = lru_cache(maxsize=1_000)(without_names)


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
            figure, of the one figure of what was stated just before.
        instead_of: The figure that was wrong, where it is said: `58, not 61`.
        read_by: Who took the words for a statement.
    """

    kind: StatementKind
    value: str
    polarity: Polarity
    about: str
    quote: str
    only_if_held: bool = False
    corrects: bool = False
    instead_of: str = ""
    read_by: Literal["rules", "model"] = "rules"


def held_statements(text: str, names: Collection[str] = ()) -> tuple[HeldStatement, ...]:
    """Return what `text` states about the patient who is open and has `names`, in order."""
    found: list[HeldStatement] = []
    before: list[HeldStatement] = []
    for sentence, is_kept in _kept_sentences(text):
        read = [*_read(sentence)] or _read_of(sentence, names)
        read = read or (_kept(sentence) if is_kept else [])
        if before and _takes_back(sentence):
            found, read = found[: -len(before)], [one for one in read if not one.corrects]
        found, before = [*found, *read], read
    return tuple(found)


@lru_cache(maxsize=1_000)
def _kept_sentences(text: str) -> Sequence[tuple[str, bool]]:
    """Return the sentences, and behind which stands "write that down", which is none of them."""
    found: list[tuple[str, bool]] = []
    for sentence in sentences_of(text[:TEXT_LIMIT_CHARS]):
        head, last = "", sentence
        if (behind := _LAST_CLAUSE.search(sentence)) is not None:
            head, last = sentence[: behind.start()], behind["clause"]
        if not says(last, "writes_it_down") or asks_question(head):
            found.append((sentence, False))
        elif head:
            found.append((head, True))
        else:
            found[-1:] = [(one, not (asks(one) or asks_question(one))) for one, _ in found[-1:]]
    return found


def _kept(sentence: str) -> list[HeldStatement]:
    """Return as a note what the user says to write down behind it."""
    known = grammars()
    is_note = all(_may_be_noted(sentence, one) for one in known)
    words = sentence.rstrip(" .!;")
    return _as_note(words, sentence, known[0], is_noted=True) if is_note else []


def stated_in(quote: str) -> tuple[HeldStatement, ...]:
    """Return what `quote`, which is held of the patient, states: it may begin with a name."""
    named = takewhile(lambda word: word[0].isupper(), quote.split())
    return held_statements(quote, (" ".join(named),))


def _read_of(sentence: str, names: Collection[str]) -> list[HeldStatement]:
    """Return what a sentence states of the patient by name: "Mr Moen takes ramipril"."""
    nameless = _nameless(sentence, tuple(names)) if names else sentence
    if nameless == sentence:
        return []
    return [replace(one, quote=sentence) for one in _read(nameless)]


def _takes_back(sentence: str) -> bool:
    """Whether a sentence corrects or doubts what the sentence before it states."""
    return any(
        (one["correcting"].search(sentence) and not one["adds"].search(sentence))
        or one["doubts"].search(sentence)
        for one in grammars()
    )


@lru_cache(maxsize=1_000)
def withdrawn_value(text: str, *, is_sure: bool = True) -> str | None:
    """Return what a command such as "forget the allergy to penicillin" wants forgotten.

    Args:
        is_sure: Whether the words can mean nothing else; "delete the ibuprofen" may.
    """
    sentence = _SPACES.sub(" ", text).strip(" .!")
    for name in ("withdraws",) if is_sure else ("withdraws", "may_withdraw"):
        for grammar in grammars():
            if (found := grammar[name].fullmatch(sentence)) is not None:
                return found["what"].strip()
    return None


def withdraws_all(text: str) -> bool:
    """Whether all that is held of the patient is to be forgotten: "forget what I said of her"."""
    sentence = _SPACES.sub(" ", text).strip(" .!")
    return any(grammar["withdraws_all"].fullmatch(sentence) for grammar in grammars())


def asks_to_hold(text: str, names: Collection[str] = ()) -> bool:
    """Whether every sentence of `text` asks to remember something: "please note that …".

    Args:
        names: Of the patient who is open: "add a note for Ann that …" is about her.
    """
    sentences = _kept_sentences(text)
    return bool(sentences) and all(
        is_kept or _is_request(one) or (names and _is_request(_nameless(one, tuple(names))))
        for one, is_kept in sentences
    )


def is_correction(text: str) -> bool:
    """Whether `text` is one statement that puts an earlier one right: "no wait, she is DNR"."""
    sentences = list(sentences_of(text[:TEXT_LIMIT_CHARS]))
    read = _read(sentences[0]) if len(sentences) == 1 else ()
    if not read:
        return False
    return any(one.corrects for one in read) or any(
        grammar["correcting"].search(sentences[0]) for grammar in grammars()
    )


def behind_corrections(text: str) -> Iterator[str]:
    """Yield what stands behind the words by which a language puts right: "no wait, she quit"."""
    for grammar in grammars():
        if grammar["correcting"].match(text) is not None:
            yield grammar["leads"].sub("", text)


def may_put_right(words: str) -> bool:
    """Whether `words` behind a "no" may be what is right: no order, no question, no second "no"."""
    said = words_of(words)
    if not said or said[0] in statement_words().imperatives:
        return False
    return not (asks_question(words) or is_retracted(words) or says(words, "stays_with"))


def plain_sentence(quote: str, text: str, names: Collection[str] = ()) -> str | None:
    """Return the whole sentence of `text` that `quote` is, if nothing in it speaks against it.

    None for other words, questions, possibilities, hearsay, orders and other people's matters.
    """
    wanted = _folded(quote)
    for sentence in sentences_of(text[:TEXT_LIMIT_CHARS]):
        if wanted and _folded(sentence) == wanted and not asks(sentence):
            known, of_whom = grammars(), without_names(sentence, names)
            is_theirs = any(one["of_patient"].search(of_whom) for one in known)
            is_guarded = any(one[guard].search(sentence) for one in known for guard in _GUARDS)
            return sentence if is_theirs and not is_guarded else None
    return None


def _folded(sentence: str) -> str:
    return _SPACES.sub(" ", sentence).strip(" .!;").casefold()


@lru_cache(maxsize=1_000)
def _is_request(sentence: str) -> bool:
    return any(grammar["notes"].match(_without_leads(sentence, grammar)) for grammar in grammars())


@lru_cache(maxsize=1_000)
def _read(sentence: str) -> Sequence[HeldStatement]:
    known = (one for one in grammars() if not asks(sentence) or _is_polite(sentence, one))
    read = [*filter(None, (_stated(sentence, one) for one in known)), []]
    # "Sorry, RR 138/86" is but a note in English.
    return next((one for one in read if any(each.kind != "note" for each in one)), read[0])


def asks(sentence: str) -> bool:
    """Whether it ends with a question mark, alone or among others, or asks so: "is she"."""
    is_marked = "?" in sentence[len(sentence.rstrip(" .!?")) :]
    return is_marked or any(one["tags"].search(sentence) for one in grammars())


def _is_polite(sentence: str, grammar: Grammar) -> bool:
    """Whether a question mark only makes a request polite: "could you note that …?"."""
    noted = grammar["notes"].match(_without_leads(sentence, grammar))
    return noted is not None and bool(noted["polite"])


def _without_leads(sentence: str, grammar: Grammar) -> str:
    said = grammar["trails"].sub("", grammar["leads"].sub("", sentence.rstrip(" .!;?")))
    return grammar["refused"].sub(r"\1", said)


def _stated(quote: str, grammar: Grammar) -> list[HeldStatement]:
    said = _without_leads(quote, grammar)
    noted = grammar["notes"].match(said)
    words = noted["what"].strip() if noted is not None else said
    if noted is not None and not _may_be_noted(words, grammar):
        return []
    clauses = [_matched(one, quote, grammar) for one in grammar["joins"].split(words)]
    if _contradict(clauses):
        return []
    as_note = _as_note(words, quote, grammar, is_noted=noted is not None)
    if noted is not None and (that := noted.groupdict().get("that")):  # whose verb stands last
        as_note = [replace(one, value=f"{that} {one.value}") for one in as_note]
    if grammar["guards"].search(words):
        # Who asks to have it remembered gets it word for word, its "may" and "says" with it.
        return as_note if noted is not None else []
    if grammar["relatives"].search(words):
        return as_note  # it is kept as it was said, and is nobody's illness
    found = (
        _of_clauses(words, clauses)
        or _put_right(words, quote, grammar)
        or _matched(words, quote, grammar)
    )
    if said == quote.rstrip(" .!;"):
        found = [one for one in found if not one.only_if_held]
    return found or as_note


def _of_clauses(words: str, found: list[list[HeldStatement]]) -> list[HeldStatement]:
    """Return what each of two or more joined clauses states; nothing if one of them is no form.

    "She is not allergic to penicillin, she is allergic to sulfa". What a list of doses only
    corrects, and what contradicts itself, is left alone.
    """
    found = found if "," in words else _with_drugs_listed(found)  # "A 5 mg, 10 mg" may correct
    stated = _without_denied([one for of_clause in found for one in of_clause])
    is_whole = len(found) > 1 and all(found) and not any(one.only_if_held for one in stated)
    subjects = {(one.kind, one.about) for one in stated}
    return stated if is_whole and len(subjects) == len(stated) else []


def _with_drugs_listed(found: list[list[HeldStatement]]) -> list[list[HeldStatement]]:
    """Return `found` with the verb of the first clause: "she takes A 1 mg and B 2 mg daily"."""
    first = found[0][:1]
    takes = any((one.kind, one.polarity) == ("medication", "present") for one in first)
    if not takes or any(one.only_if_held for one in first):
        return found
    is_listed = all(one.kind == "medication" for clause in found for one in clause)
    if not is_listed:
        return found
    return [[replace(one, only_if_held=False) for one in clause] for clause in found]


def _without_denied(stated: list[HeldStatement]) -> list[HeldStatement]:
    """Return `stated` without "not DNR" where "full code" is said as well."""
    told = {
        one.value.casefold() for one in stated if (one.kind, one.polarity) == (_CODE, "present")
    }
    return [
        one
        for one in stated
        if one.kind != _CODE or one.polarity == "present" or told <= {one.value.casefold()}
    ]


def _contradict(clauses: Sequence[Sequence[HeldStatement]]) -> bool:
    """Whether two of the joined clauses say the opposite of one another."""
    stated = _without_denied([one for clause in clauses for one in clause])
    sides = {(one.kind, one.about, one.polarity) for one in stated}
    return len(sides) > len({(kind, about) for kind, about, _ in sides})


def _put_right(words: str, quote: str, grammar: Grammar) -> list[HeldStatement]:
    """Return both sides of "not allergic to A, it is B" and of "allergic to B, not to A"."""
    if (corrected := grammar["corrections"].fullmatch(words)) is not None:
        value = corrected["value"]
        instead = HeldStatement("allergy", value, "present", value.casefold(), quote)
        return [*_matched(corrected["not"], quote, grammar), instead]
    rather = grammar["rather_than"].fullmatch(words)
    if rather is None or not _is_believed(rather["not"], grammar):
        return []
    denied = rather["not"]
    held = _matched(rather["held"], quote, grammar)
    return held and [HeldStatement("allergy", denied, "absent", denied.casefold(), quote), *held]


def _is_believed(value: str, grammar: Grammar) -> bool:
    return not (grammar["no_value"].match(value) or grammar["no_part"].search(value))


def _may_be_noted(words: str, grammar: Grammar) -> bool:
    """Whether a note is about the open patient: the user's own matters are no part of a chart."""
    is_own = grammar["own"].search(words) and not grammar["of_patient"].search(words)
    return not is_own and grammar["note_guards"].search(words) is None


def _as_note(words: str, quote: str, grammar: Grammar, *, is_noted: bool) -> list[HeldStatement]:
    """Return what one is asked to remember, or what corrects such a note; else nothing."""
    figures = grammar["leads"].sub("", quote.rstrip(" .!;"))
    for form in () if is_noted else grammar.figures:
        if (found := form.fullmatch(figures)) is not None:
            return [_corrected(found["new"], quote, instead_of=found["old"])]
    if not is_noted:
        is_correction = grammar["correcting"].search(quote) is not None
        return [_corrected(words, quote)] if is_correction and may_put_right(words) else []
    return [HeldStatement("note", words, "present", words.casefold(), quote)]


def _corrected(words: str, quote: str, *, instead_of: str = "") -> HeldStatement:
    return HeldStatement(
        "note", words, "present", words.casefold(), quote,
        only_if_held=True, corrects=True, instead_of=instead_of,
    )  # fmt: skip


def _matched(words: str, quote: str, grammar: Grammar) -> list[HeldStatement]:
    for form in grammar.forms:
        if (found := form.pattern.fullmatch(words)) is None:
            continue
        named = found.groupdict()
        value = (named.get("value") or "").strip(" ,")
        is_free = form.kind == "allergy"  # any words may stand there, so few are believed
        detail = (named.get("detail") or "").strip(" ,")
        if not value or (is_free and not _is_believed(value, grammar)):
            return []
        if grammar["no_detail"].search(detail):
            return []  # a clause of its own, which says something else
        shown = f"{value} ({detail})" if detail else value
        about = (form.about or named.get("about") or value).casefold().strip()
        return [HeldStatement(form.kind, shown, form.polarity, about, quote, form.only_if_held)]
    return []

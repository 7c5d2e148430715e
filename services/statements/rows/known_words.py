"""Whether the words of a sentence are those of rows, in another form or by another name. Pure."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import stems_told
from services.language.words.statement_words import statement_words
from services.statements.rows.rows import BEGINNING, ONLY_POSSIBLE, KnownRow, stems_of, told_of

INFLECTIONS = ("en", "n", "e", "es", "er", "em")
SHORT_FORM_CHARS, SHORT_CHARS = 5, 3
_FORMS = ("ing", "ed", *INFLECTIONS)


def has_all(said: AbstractSet[str], known: AbstractSet[str], initials: Sequence[str] = ()) -> bool:
    """Whether all words that are said are known: of themselves, in another form or by a name."""
    if said <= known:
        return True
    begun = {word[:BEGINNING] for word in known}
    done = {word[:BEGINNING] for word in known if not word.endswith(ONLY_POSSIBLE)}
    happening = statement_words().happening
    return all(
        word in known
        or (word[0] != "=" and word[:BEGINNING] in (done if word in happening else begun))
        or is_named(word, known)
        or _is_joined(word, known)
        or any(
            word.removesuffix(ending) in known for ending in _FORMS if len(word) > SHORT_FORM_CHARS
        )
        or (len(word) == SHORT_CHARS and any(word in one for one in initials))
        or _is_done(word, known)
        for word in said
    )


def _is_done(word: str, known: AbstractSet[str]) -> bool:
    """Whether a word is the doing of what is known: `suturing`, `sutured` of a suture."""
    done = next((word.removesuffix(one) for one in ("ing", "ed") if word.endswith(one)), "")
    return len(done) >= SHORT_FORM_CHARS and f"{done}e" in known


def is_named(word: str, known: AbstractSet[str]) -> bool:
    """Whether a word is of another name of what is known: `Kalium`, `clot`."""
    return any(one <= known for one in statement_words().named.get(word, ()))


def _is_joined(word: str, known: AbstractSet[str]) -> bool:
    """Whether a long word is joined of two that are known: `Knochenläsion`."""
    cuts = range(SHORT_CHARS + 2, len(word) - SHORT_CHARS)
    halves = ((word[:at].removesuffix("s"), word[at:]) for at in cuts)
    return any(all(one in known or is_named(one, known) for one in both) for both in halves)


def has_none(words: Iterable[str], known: AbstractSet[str]) -> bool:
    """Whether rows name nothing that any of `words` says or begins."""
    return not any(
        word in known
        or is_named(word, known)
        or any(one.startswith(word) for one in known if len(word) > SHORT_CHARS + 1)
        for word in words
    )


def meaning(word: str, known: AbstractSet[str]) -> frozenset[str]:
    """Return the words among `known` that may stand for one."""
    if word in stems_told("allergic"):
        return frozenset({"=allergy"}) & known
    begun = statement_words().happening.get(word, (word[:BEGINNING],))
    alike = {one for group in statement_words().named.get(word, ()) for one in group}
    return frozenset(one for one in known if one in alike or one == word or one.startswith(begun))


def of_months(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    """Whether rows tell the months that are told without a year: "planned for April"."""
    known = statement_words().months
    is_open = clause.dates or "maybe" in clause.cues
    told = set() if is_open else {known[word] for word in clause.words if word in known}
    if not told:
        return True
    days = {day.month for row in rows for day in row.dates if day is not row.written}
    return told <= days | {known.get(word) for row in rows for word in row.words}


def lacked(row: KnownRow) -> frozenset[str]:
    """Return what a row is without, or prevents: the aura of "migraine without aura"."""
    said = row.says.replace(" with no ", " without ").replace(" 0 ", " without ")
    said = said.replace(" to prevent ", " without ")
    behind = said.partition(" without ")[2].partition(",")[0]
    return told_of(stems_of(behind)) if behind[:3] not in ("", "of ") else frozenset()

"""Orders that are a whole message: clear, stop, help, wrong patient … Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile

from services.language.utterance import Command
from services.language.words.folding import words_of
from services.language.words.letters import APOSTROPHES
from services.language.words.letters import folded as folded_letters
from services.language.words.people_words import of_people
from services.language.words.phrases import says
from services.language.words.vocabulary import LANGUAGES, folded, replies

_LONGEST_CHARS = 80
_NAME_WORDS = 4
_BY_PHRASES: Mapping[Command, Sequence[str]] = {
    "wrong_patient": ("wrong_patient",),
    "retract": ("retracts",),
    "known": ("what_is_held", "what_was_told"),
}
_CLAUSE_ENDS = re.compile(r"[,;:.!–—]+| - ")
_BEFORE_ORDERS = frozenset(words_of("no nein non sorry wait oops oh ah hm warte moment ups halt"))


def is_clear_command(text: str) -> bool:
    """Whether `text` is one of the exact commands that clear at once, nothing around them."""
    said = " ".join(without_outer_punctuation(text).casefold().split())
    return said in _clear_commands()


@lru_cache(maxsize=256)
def command_in(text: str) -> Command | None:
    """Return the order that `text` is, with "please", "no," and the like around it."""
    if is_clear_command(text):
        return "clear"
    words = words_of(text)
    if not words or len(text) > _LONGEST_CHARS:
        return None
    commands, around = _commands(), _around()
    ends = [at for at in range(len(words), 0, -1) if all(each in around for each in words[at:])]
    for start in _starts(words):
        for end in ends:
            if (found := commands.get(tuple(words[start:end]))) is not None:
                return found
    said = next((one for one, names in _BY_PHRASES.items() if says(text, *names)), None)
    if said is not None:
        return said
    comparing = (folded(one) for language in LANGUAGES for one in replies(language).compares)
    return "compare" if any(tuple(words[: len(one)]) == one for one in comparing) else None


def is_said_of(text: str, names: Collection[str]) -> bool:
    """Whether `text` is that what was said before was about who has one of `names`."""
    titles = of_people("titles_of_men", "titles_of_women", "titles_of_patients")
    own = [set(words_of(name)) | titles for name in names]
    said = (set(words_of(" ".join(one))) for one in said_to_be_of(text, "was_for", "was"))
    return any(named - titles and any(named <= one for one in own) for named in said)


def is_retracted(text: str) -> bool:
    """Whether `text` says, alone or before something else, that what was said is not so."""
    return behind_retraction(text) is not None


@lru_cache(maxsize=1_000)
def behind_retraction(text: str) -> str | None:
    """Return what `text` says behind words that take back what was said: "" for nothing.

    "No, scratch that, it was sulfa". None where it takes nothing back.
    """
    if "?" in text:
        return None
    if command_in(text) == "retract":
        return ""
    ends = [at for at, each in enumerate(text[:_LONGEST_CHARS]) if each in ",;:."]
    end = next((at for at in ends if command_in(text[:at]) == "retract"), None)
    if end is None:
        return None
    rest = text[end + 1 :].strip()
    again = behind_retraction(rest)  # "my mistake, forget it"
    return rest if again is None else again


@lru_cache(maxsize=1_000)
def takes_back(text: str) -> bool:
    """Whether `text` says that what was said before is not so, or was about somebody else."""
    if command_in(text) == "wrong_patient" or is_retracted(text):
        return True
    if _lead_words().isdisjoint(words_of(text)):
        return False
    eponyms = of_people("eponyms")  # `that was Crohn's disease`
    return any(
        all(each[0].isupper() for each in one)
        and (len(one) > 1 or folded_letters(one[0]) not in eponyms)
        for one in said_to_be_of(text, "was_for")
    )


def said_to_be_of(text: str, *bare: str) -> Iterator[Sequence[str]]:
    """Yield whom `text` may say that what came before was about: "sorry, that was Doyle's value".

    Of other words only a few may stand before, as a clause of their own.

    Args:
        bare: Behind which leads the name may be all.
    """
    *before, last = _CLAUSE_ENDS.split(text.strip(" .!"))
    if before and of_people("set_against").issuperset(words_of(last)[:1]):
        *before, last = before  # "that was for Doyle, not Grant"
    if "?" in text or any(len(one.split()) > _NAME_WORDS for one in before):
        return
    raw, aside = last.split(), of_people("described_by", "set_against")  # "that was Doyle who fell"
    words = [" ".join(words_of(one)) for one in raw]
    for name, lead in _leads():
        for start in _starts(words):
            if tuple(words[start : start + len(lead)]) == lead:
                behind = zip(raw[start + len(lead) :], words[start + len(lead) :], strict=True)
                named = [one for one, _ in takewhile(lambda word: word[1] not in aside, behind)]
                if name in bare and 0 < len(named) <= _NAME_WORDS:
                    yield named
                yield from _owners(named)


def _owners(raw: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield whose `raw` may be: Ada Doyle of "Ada Doyle's last value", Doyle of "Doyles Wert"."""
    for at, each in enumerate(raw[:_NAME_WORDS], start=1):
        if each.endswith("s") and len(each) > 1 and len(raw) - at <= _NAME_WORDS:
            yield [*raw[: at - 1], each[:-1].rstrip(APOSTROPHES)]


def without_outer_punctuation(text: str) -> str:
    """Return `text` without what stands around its first and last letter or digit."""
    return text.strip("".join(one for one in set(text) if not one.isalnum()))


@cache
def _clear_commands() -> frozenset[str]:
    return frozenset(
        phrase.casefold()
        for language in LANGUAGES
        for phrase in replies(language).commands.get("clear", ())
    )


@cache
def _commands() -> Mapping[tuple[str, ...], Command]:
    """Return all but `clear`, which allows of nothing around it."""
    return {
        folded(phrase): command
        for language in reversed(LANGUAGES)
        for command, phrases in [*replies(language).commands.items()][::-1]
        if command != "clear"
        for phrase in phrases
    }


@cache
def _around() -> frozenset[str]:
    """Return the single words that may stand around an order."""
    one_word = {
        folded(phrase)[0]
        for language in LANGUAGES
        for phrase in (*replies(language).fillers, *replies(language).soft_yes)
        if len(folded(phrase)) == 1
    }
    return frozenset(one_word | _BEFORE_ORDERS)


def _starts(words: Sequence[str]) -> Sequence[int]:
    """Return where an order may begin: behind nothing but "please", "no" and the like."""
    around = _around()
    return [at for at in range(len(words)) if all(each in around for each in words[:at])]


@cache
def _leads() -> Sequence[tuple[str, tuple[str, ...]]]:
    """Return what stands before a name: the list of its words, and the words."""
    words = [replies(one) for one in LANGUAGES]
    found = [("was_for", folded(each)) for one in words for each in one.was_for]
    return [*found, *(("was", folded(each)) for one in words for each in one.was)]


@cache
def _lead_words() -> frozenset[str]:
    """Return with which words one of those begins."""
    return frozenset(words[0] for _, words in _leads())

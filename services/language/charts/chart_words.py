"""The words of chart questions of one language, and how a text falls into them."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, groupby
from operator import itemgetter

from rapidfuzz.distance import OSA

from services.language.charts.chart_entries import entries_of, shared_in
from services.language.charts.chart_file import ChartWords, chart_file
from services.language.charts.chart_pieces import Label, NameIs, Piece, name_label
from services.language.charts.salts import with_salts_apart
from services.language.utterance import Aspect
from services.language.words.folding import fold, tokens_of
from services.language.words.people_words import common_words
from services.language.words.vocabulary import (
    concept_rows,
    drug_classes,
    drug_names,
    words_with_number,
)

_LONGEST_PHRASE = 8
_SHORTEST_AROUND = 3
_SLIP_CHARS = 6
"""Shorter words that differ by a letter are different words."""
_SWAP_CHARS = 5
"""From here on two letters that changed places are a slip: "satge"."""
_DRUG_CHARS = 8
"""Shorter names of drugs are too like each other to be taken for a slip."""
_TELLING_CHARS = 4
_NOUNS = frozenset({"name", "topic", "part", "frame"})
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")
_PLACE = re.compile(r"(?<![\w.,])([1-5])\.(?=\s[^\W\d_]{4})")  # "2. Dosis" is the second
_SHORT_CHARS, _BEFORE = 2, 3


class Lexicon:
    """Every phrase of one language, each with all that it may be."""

    def __init__(self, *, words: ChartWords, fallback: ChartWords | None, language: str) -> None:
        self.words, self.language = words, language
        # Several rules read each text, and most of its words were in an earlier one.
        self._pieces_of = lru_cache(maxsize=64)(self._read_pieces)
        self._words_of = lru_cache(maxsize=8_192)(
            lambda token: tuple(map(self._spelt, self._parts(token)))
        )
        self._compounds = [fold(each)[0] for each in words.compounds]
        self.numbers = {**words_with_number(language), **dict.fromkeys(words.pair, 2)}
        self.joints = frozenset({",", ";", "?", "&", *words.joints})
        self.connectors = frozenset({",", "/", *words.joints, *words.connectors})
        self._phrases: dict[tuple[str, ...], tuple[Label, ...]] = {}
        for phrase, label in entries_of(words, language):
            self._add(phrase, label)
        self._written = frozenset(self._phrases)
        if fallback is not None:
            for phrase, label in shared_in(fallback):
                if _folded(phrase) not in self._written:
                    self._add(phrase, label)
        known = set(self._phrases)
        classes = {name: tuple(map(str, row["words"])) for name, row in drug_classes().items()}
        members = {str(one): () for row in drug_classes().values() for one in row["members"]}
        for name, others in {**members, **classes, **drug_names()}.items():
            label = name_label("medications", name)
            for phrase in (name, *others, *self._own_drugs(name)):
                if _folded(phrase) not in known:
                    self._add(phrase, label)
        self._add_concepts("problems")
        self._add_concepts("results")
        self._first_words = {phrase[0] for phrase in self._phrases if len(phrase) > 1}
        self._beginnings = {phrase[:2] for phrase in self._phrases if len(phrase) > 2}
        self._closed = {
            "".join(phrase): labels
            for phrase, labels in self._phrases.items()
            if len(phrase) > 1 and sum(map(len, phrase)) >= _SLIP_CHARS
        }
        own = {one for one in chain.from_iterable(self._phrases) if len(one) >= _SWAP_CHARS}
        own -= {w for w in own if len(w) < _DRUG_CHARS and _is_of("medications", self._known([w]))}
        # In order: of two words that are as near the same is taken in each process.
        self._own = {a: dict.fromkeys(each) for a, each in groupby(sorted(own), itemgetter(0))}
        labels = chain.from_iterable(self._phrases.values())
        self._names = {one.value.name for one in labels if one.kind in ("name", "topic")}
        self._endings = {
            ending: tool
            for each in (words, *([fallback] if fallback else []))
            for tool, endings in each.endings.items()
            for ending in endings
        }

    def _add_concepts(self, tool: str) -> None:
        """Add what records hold as illnesses or values, where the language has no such phrase."""
        known = set(self._phrases)
        own = self.words.names.get(tool, {}) if tool == "results" else {}
        for name, row in concept_rows()[tool].items():
            if str(name).casefold() in own:
                continue  # it is called as the language says: Kalium is no English word
            label = name_label(tool, str(name).casefold())
            for phrase in (str(name), *map(str, row.get("words", ()))):
                words = _folded(phrase)
                if words not in known and not (len(words) == 1 and words[0] in common_words()):
                    self._add(phrase, label)

    def _own_drugs(self, name: str) -> Iterator[str]:
        """Yield how the language spells the name of a drug: Abirateron."""
        for ending, own in self.words.drug_endings.items():
            if name.endswith(ending):
                yield f"{name.removesuffix(ending)}{own}"

    def pieces(self, text: str) -> list[Piece]:
        """Return folded `text` as pieces, the longest phrase that fits first."""
        return list(self._pieces_of(text))

    def _read_pieces(self, text: str) -> tuple[Piece, ...]:
        tokens = list(with_heads(list(self._tokens(text)), self._known, self.joints - {"?"}))
        found, at, end = list[Piece](), 0, len(tokens)
        tokens.append("?")  # many leave it out: "how is she"
        while at < end:
            size, labels = self._longest(tokens[at:]) or (1, self._of_word(tokens[at]))
            if not labels and (around := self._around_somebody(tokens[at:end])):
                size, labels = around
            found.append(Piece(tuple(tokens[at : min(at + size, end)]), labels))
            at += size
        return tuple(found)

    def _longest(self, tokens: Sequence[str]) -> tuple[int, tuple[Label, ...]] | None:
        """Return the longest phrase of several words that `tokens` begin with, and its length."""
        if tokens[0] not in self._first_words:
            return None
        most = _LONGEST_PHRASE if tuple(tokens[:2]) in self._beginnings else 2
        sizes = range(min(most, len(tokens)), 1, -1)
        found = ((n, self._known(tokens[:n]) or self._in_the_plural(tokens[:n])) for n in sizes)
        longest = next(((n, labels) for n, labels in found if labels), None)
        if longest is None or tokens[0] not in self.words.people:
            return longest
        within = self._longest(tokens[1:])  # "his heart" stands in "his heart attack"
        return longest if within is None or within[0] < longest[0] else None

    def _around_somebody(self, tokens: Sequence[str]) -> tuple[int, tuple[Label, ...]] | None:
        """Return what a phrase is in which somebody stands: "cant she take"; and its length."""
        if len(tokens) < _SHORTEST_AROUND or tokens[1] not in self.words.people:
            return None
        sizes = range(min(_LONGEST_PHRASE, len(tokens)), _SHORTEST_AROUND - 1, -1)
        found = ((n, self._known([tokens[0], *tokens[2:n]])) for n in sizes)
        return next(((n, labels) for n, labels in found if labels), None)

    def knows(self, word: str) -> bool:
        """Whether `word` is one of the phrases, or a plain word of any language."""
        folded = self._in_one_letter(fold(word)[0])
        return folded in common_words() or any(piece.labels for piece in self.pieces(folded))

    def is_own(self, words: tuple[str, ...]) -> bool:
        """Whether the language's own file has a phrase, and not only what all languages share."""
        return words in self._written

    def is_ordinary(self, name: str) -> bool:
        """Whether `name` is common words, none of which stands for a thing or an illness here."""
        pieces = self.pieces(fold(name)[0])
        named = name in self._names or any(one.of("name") or one.of("topic") for one in pieces)
        return not named and all(word in common_words() for one in pieces for word in one.words)

    def called(self, name: str) -> str:
        """Return what the language calls what the vocabulary calls `name`, itself where unknown."""
        if self.language == "en":
            return name
        # Of a vaccine and an illness the vaccine.
        lists = (*self.words.names.values(), {one.name: one.words for one in self.words.topics})
        each = (own.get(one) for one in (name, name.casefold()) if one for own in lists)
        return next(filter(None, each), (name,))[0]

    def aspects_within(self, piece: Piece) -> set[Aspect]:
        """Return the aspects that single words of a longer phrase have."""
        labels = [label for word in piece.words for label in self._known([word])]
        return {label.value for label in labels if label.kind == "aspect"}

    def _add(self, phrase: str, label: Label) -> None:
        words = _folded(phrase)
        labels = self._phrases.get(words, ())
        if words and label not in labels:
            self._phrases[words] = (*labels, label)
        if words[1:] and "cancer" in words:
            self._add(" ".join("ca" if one == "cancer" else one for one in words), label)
        if words[0:] == words[:1] and label.kind == "name" and label.value.name.endswith(" cancer"):
            self._add(f"{words[0].removesuffix('karzinom')} ca", label)  # "Magen-Ca"

    def _known(self, words: Sequence[str]) -> tuple[Label, ...]:
        return self._phrases.get(tuple(words), ())

    def _of_word(self, word: str) -> tuple[Label, ...]:
        """Return what a word is; also one that others write as several: "uptodate"."""
        return self._known([word]) or self._inflected(word) or self._closed.get(word, ())

    def _in_the_plural(self, tokens: Sequence[str]) -> tuple[Label, ...]:
        """Return what a phrase is whose last word has an ending: "sore throats"."""
        last = tokens[-1]
        if any(one.kind == "aspect" for one in self._known([last])):
            return ()  # "Hb-Werte" are all of them, "Hb-Wert" one
        long = (stem for stem in self._stems(last) if len(stem) >= _TELLING_CHARS)
        return next(filter(None, (self._known([*tokens[:-1], stem]) for stem in long)), ())

    def _stems(self, word: str) -> Iterator[str]:
        """Yield `word` without its endings: "spirometries" is spirometry."""
        ending, singular = self.words.plural
        if ending and word.endswith(ending):
            yield f"{word.removesuffix(ending)}{singular}"
        yield from (word.removesuffix(one) for one in self.words.inflections if word.endswith(one))

    def _inflected(self, word: str) -> tuple[Label, ...]:
        for stem in self._stems(word):
            is_long = len(stem) > 2 or (len(stem) == 2 and word not in common_words())
            labels = self._known([stem]) if is_long else ()
            is_short = len(stem) + 1 < len(word) <= _SLIP_CHARS  # "Tropen" is no "trop"
            is_short |= len(stem) < _TELLING_CHARS and word != f"{stem}s"  # "alte" is no "ALT"
            is_idle = all(one.kind == "stop" for one in labels)  # "mites" is no "mit"
            if labels and not (is_short and (is_idle or _is_of("results", labels))):
                return labels
        for ending, tool in self._endings.items():
            if word.endswith(ending) and len(word) >= len(ending) + 3:
                return (Label("name", NameIs(tool, self._in_latin(word))),)
        return ()

    def _in_latin(self, word: str) -> str:
        """Return a name from Greek or Latin as records spell it: Zystoskopie is cystoscopy."""
        spelt = self.words.spellings
        for ending, english in spelt.items():
            own = fold(ending)[0]
            if word.endswith(own) and len(own) > 1:
                stem = word.removesuffix(own)
                return re.sub("[kz]", lambda one: spelt.get(one[0], one[0]), stem) + english
        return word

    def _tokens(self, text: str) -> Iterator[str]:
        if self.language != "en":  # 37,5 is one figure
            text = _PLACE.sub(r"\1te", _DECIMAL_COMMA.sub(".", with_salts_apart(text)))
        for token in tokens_of(text):
            yield from self._words_of(token)

    def _spelt(self, token: str) -> str:
        """Return the one word of the phrases that `token` misspells by a letter, else itself."""
        token = self._in_one_letter(token)
        if len(token) < _SWAP_CHARS or not token.isalpha() or self._is_word(token):
            return token
        if cut := self._cut_short(token):
            return cut
        near = [
            word
            for word in self._own.get(token[0], ())
            if (len(token) >= _SLIP_CHARS or sorted(word) == sorted(token))
            and OSA.distance(word, token, score_cutoff=1) == 1
        ]
        near = [one for one in near if sorted(one) == sorted(token)] or near  # letters in disorder
        if not near or any(self._of_word(one) != self._of_word(near[0]) for one in near):
            return token
        kinds = {one.kind for one in self._of_word(near[0])}
        # "displaced" is no slip of "displayed", by which nothing would be claimed.
        is_filler = kinds == {"stop"} and sorted(near[0]) != sorted(token)
        return token if is_filler or kinds <= {"beyond"} else near[0]

    def _without_e(self, token: str) -> str:
        return reduce(lambda said, one: said.replace(*one), self.words.digraphs.items(), token)

    def _in_one_letter(self, token: str) -> str:
        """Return a word whose umlauts are written out as it is folded: "anaemie" is anamie."""
        plain = self._without_e(token)
        return token if self._is_listed(token) or not self._is_word(plain) else plain

    def _cut_short(self, token: str) -> str:
        """Return the word that `token` is the beginning of: herzinsuff; "" where several are."""
        own = self._own.get(token[0], ()) if len(token) >= _SLIP_CHARS else ()
        longer = [one for one in own if one.startswith(token)]
        meant = [self._of_word(one) for one in longer]
        is_one = bool(meant) and all(one and one == meant[0] for one in meant)
        rests = [one.removeprefix(token) for one in longer]
        is_whole = any(self._is_word(one.removeprefix("s")) for one in rests)
        is_whole |= token[-1] == "e" and all(one[:1] == "n" for one in rests)  # "Aortenklappe"
        is_one = is_one and not (is_whole or _is_of("medications", meant[0]))
        return min(longer, key=len) if is_one else ""

    def _is_word(self, token: str) -> bool:
        is_known = self._is_listed(token) or any(self._known([one]) for one in self._stems(token))
        return is_known or token.removesuffix("s") in common_words()

    def _is_listed(self, token: str) -> bool:
        own = self._own.get(token[:1], ())
        return (token,) in self._phrases or token in own or token in common_words()

    def _parts(self, token: str) -> Iterator[str]:
        """Yield the parts of a compound word: Kaliumwert is Kalium and Wert."""
        # "Drogenüberdosis" is no dose.
        halves = self._halves(token) or self._halves(self._without_e(token))
        if "".join(halves) != token and (token,) not in self._phrases:
            ends = (one for one in self._compounds if token.endswith(one))
            heads = ((token.removesuffix(one), one) for one in ends)
            halves = next((one for one in heads if len(one[0]) >= _SHORT_CHARS), halves)
        yield from (one.removesuffix("-") for one in halves or (token,))

    def _halves(self, token: str) -> tuple[str, ...]:
        """Return the two words of the phrases that `token` is: Depressionsscreening."""
        if not self.words.compounds or self._is_word(token):
            return ()
        for at in range(len(token) - _TELLING_CHARS, _TELLING_CHARS - 1, -1):
            first = next(filter(self._is_named, (token[:at], *self._stems(token[:at]))), "")
            if first and self._is_named(token[at:]):
                return first, token[at:]
        return ()

    def _is_named(self, word: str) -> bool:
        kinds = {label.kind for label in self._known([word])}
        return len(word) >= _TELLING_CHARS and not kinds.isdisjoint(_NOUNS)


def _is_of(tool: str, labels: Sequence[Label]) -> bool:
    """Whether a word is a name for `tool`."""
    return any(label.kind == "name" and label.value.tool == tool for label in labels)


@cache
def lexicon(language: str) -> Lexicon:
    """Return the phrases of `language`; names that it lacks are read in English.

    Raises:
        ConfigurationError: the file cannot be read or used.
    """
    fallback = None if language == "en" else chart_file("en")
    return Lexicon(words=chart_file(language), fallback=fallback, language=language)


@cache
def _folded(phrase: str) -> tuple[str, ...]:
    return tokens_of(phrase)


def with_heads(
    tokens: Sequence[str], known: Callable[[Sequence[str]], object], joints: Collection[str]
) -> Iterator[str]:
    """Yield `tokens` with the head before each that makes a known name with it alone."""
    for at, token in enumerate(tokens):
        before = tokens[max(0, at - _BEFORE) : at]
        if len(before) == _BEFORE and len(token) <= _SHORT_CHARS and before[2] in joints:
            head = before[0]
            if known([head, before[1]]) and known([head, token]):
                yield head
        yield token

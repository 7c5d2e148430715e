"""A word of a message as it may name somebody, with the signs that stand beside it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from services.language.words.people_words import common_words, names_in_english, of_people

Title = Literal["man", "woman", "patient", "staff", "relative"]


@dataclass(frozen=True)
class Word:
    """One word of a message.

    Attributes:
        at: Its place among the words; `start` that in the text, `end` is behind it.
        gap: What stands between the word before and this one.
        title: What the words before make of the bearer of the name.
        is_owner: Whether a possessive stands behind it: `Doyle's`, `Francis'`.
        is_capital: Whether it is written as a name is, and that says something.
        is_heading: Whether it begins the message, with a colon, comma or dash behind it.
        heads: Whether a colon or dash stands behind it, wherever it stands.
        closes: Whether the clause ends behind it, or behind but "then", "please", "jetzt".
        is_first: Whether the message begins with it, or it stands so behind `next:`.
        is_in_date: Whether it is a month where months stand: `in May`, `4 May 1961`.
        before: The word before it in its sentence, folded; `after` the one behind it, `beyond`
            the one behind that.
        has_number: Whether a number stands directly behind it: `Gleason 7`.
        is_of_head: Whether a disease or score of that name is said: `score de Gleason`.
        is_another: Whether it is told apart from its namesake: `the other Mr Doyle`.
        is_english: Whether it stands in a message that is surely in English.
    """

    raw: str
    text: str
    at: int
    start: int
    end: int
    gap: str
    title: Title | None = None
    is_owner: bool = False
    is_capital: bool = False
    is_heading: bool = False
    heads: bool = False
    closes: bool = False
    is_first: bool = False
    is_in_date: bool = False
    before: str = ""
    after: str = ""
    beyond: str = ""
    has_number: bool = False
    is_of_head: bool = False
    is_another: bool = False
    is_english: bool = False

    def is_in(self, *lists: str) -> bool:
        """Whether it is a word of one of these lists; see `people_words.yaml`."""
        return self.text in of_people(*lists)

    @cached_property
    def is_common(self) -> bool:
        """Whether it, or what it is the plural or genitive of, is a word of the common language."""
        singular = self.text.removesuffix("s")
        if self.is_english and not names_in_english().isdisjoint((self.text, singular)):
            return False
        forms = {self.text, singular, self.text.removeprefix("re")}
        forms |= {self.text.replace("yse", "yze"), self.text.replace("ise", "ize")}
        return not common_words().isdisjoint(forms) or self.is_in("asking_verbs")

    @property
    def is_derived(self) -> bool:
        """Whether it is a word of common language with an ending, in small letters: `frankly`."""
        ends = (one for one in of_people("endings") if self.text.endswith(one))
        return self.raw.islower() and any(
            self.text.removesuffix(end) in common_words() for end in ends
        )

    @cached_property
    def is_eponym(self) -> bool:
        """Whether it stands for a disease, a score or an operation."""
        if self.title in ("man", "woman", "patient"):
            return False
        beside = self.after in of_people("eponym_heads") or self.before in of_people("eponym_leads")
        return self.is_in("eponyms") and (beside or not self.is_owner)

    @cached_property
    def is_of_a_thing(self) -> bool:
        """Whether what stands beside it tells of no person: `Clark level`, `sharp pain`."""
        beside = self.after in of_people("eponym_heads") or self.before in of_people("eponym_leads")
        is_quality = self.is_in("qualities") and self.after in of_people("of_qualities")
        is_scale = self.is_in("staged_by") and self.after in of_people("found_of_one")
        is_thing = self.is_in_pair or is_quality or is_scale
        return is_thing or (self.is_eponym and (beside or self.is_of_head))

    @cached_property
    def is_in_pair(self) -> bool:
        """Whether it and a word beside it are one thing, and nobody is called so: `frank pus`."""
        is_name = self.title in ("man", "woman", "patient") or self.is_owner
        pairs = {f"{self.text} {self.after}", f"{self.before} {self.text}"}
        is_seen = self.is_in("organs") and self.after in of_people("scans")  # `head ct`
        is_by = self.after in of_people("of_authors")  # `o'brien criteria`
        is_by |= (self.after, self.beyond) == ("et", "al")
        if self.is_owner and self.after in of_people("of_saints"):
            return True  # `mary's hospital`
        is_pair = is_seen or is_by or not pairs.isdisjoint(of_people("pairs_of_no_name"))
        return is_pair and not is_name

    @cached_property
    def is_surely_eponym(self) -> bool:
        """Whether what stands beside it tells so, though somebody may bear the name."""
        is_led = self.gap.isspace() and self.before in of_people("articles")
        is_kind = self.has_number or is_led  # not `ruft an, Richter`
        is_said = self.is_of_a_thing or (is_kind and not self.is_owner)
        return self.is_in_pair or (self.is_eponym and is_said)

    @property
    def stands_as_name(self) -> bool:
        """Whether title, possessive or place say that a word of common language is a name here."""
        if self.title in ("man", "woman", "patient") or self.is_owner:
            return True
        if self.is_in_date:
            return False
        if self.is_capital:
            return True
        if self.is_heading:
            return self.heads or not self.is_in("qualities")
        if self.before in of_people("opening_verbs") and self.closes:
            return True
        if self.before in of_people("auxiliaries"):
            return not self.is_in("qualities") or self.before in ("does", "did")
        return (
            self.before in of_people("before_names")
            and (self.closes or bool(of_people("ends_requests") & {self.after, self.beyond}))
            and (not self.is_in("qualities") or self.before in of_people("about", "for_whom"))
        )


def is_pronoun(word: Word, french: bool) -> bool:
    """Whether it stands for somebody."""
    if word.text == "son":  # a relative in English
        return french
    return word.is_in("pronouns") or (word.is_in("lower_pronouns") and word.raw.islower())


def is_of_either(words: Sequence[Word], at: int) -> bool:
    """Whether it is half of "he/she" or "s/he", which says nothing of the sex."""
    return any(
        0 < later < len(words)
        and words[later].gap in ("/", ")")
        and is_pronoun(words[later], french=False)
        and (words[later - 1].text == "s" or is_pronoun(words[later - 1], french=False))
        for later in (at, at + 1)
    )

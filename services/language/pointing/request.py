"""What a message asks for, before any entity is looked at."""

from dataclasses import dataclass, field, replace
from typing import Literal

from data_models.tool_memory import EntityType
from services.language.pointing.times import TimeFilter

Order = Literal["latest", "earliest", "next", "last", "earlier", "later"]


@dataclass(slots=True)
class Request:
    """One reference, as said.

    Attributes:
        noun: The kind that a noun names ("meeting"), if one does.
        soft_noun: True where the noun may as well be part of a name ("meeting notes").
        strict: Words that must all fit: capitalised ones, numbers, words of a quoted name.
        words: Other content words, of which half must fit.
        phrases: Names in quotes or spelt out whole.
        quoted: Those of them that are said to be a name: in quotes, or as called so.
        pronoun: It, that, this, that one.
        pointed: A demonstrative or article stands before a noun ("that meeting").
        indefinite: "A meeting" is none in particular, not even the focus.
        ordinal: Position in the list shown last, from 1, or from -1 at its end.
        places: Positions, where several are named: "the first two", "the first and the last".
        count: How many are said to be meant: 2 by "both", 3 by "all three".
        rest: Those of a list that are left besides the one in focus.
        number: A small bare number ("2"), which may be a position or part of a name.
    """

    noun: EntityType | None = None
    noun_word: str = ""
    soft_noun: bool = False
    strict: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)
    pronoun: bool = False
    pointed: bool = False
    indefinite: bool = False
    plural: bool = False
    count: int | None = None
    rest: bool = False
    other: bool = False
    ordinal: int | None = None
    places: tuple[int, ...] = ()
    number: int | None = None
    order: Order | None = None
    times: TimeFilter = field(default_factory=TimeFilter)

    @property
    def has_content(self) -> bool:
        """Whether words must fit."""
        return bool(self.strict or self.words or self.phrases)

    @property
    def has_selector(self) -> bool:
        """Whether it picks from a list or by date."""
        return bool(self.other or self.ordinal is not None or self.number or self.order)

    @property
    def points(self) -> bool:
        """Whether it refers to anything at all."""
        return bool(
            self.noun
            or self.has_content
            or self.pronoun
            or self.has_selector
            or (self.pointed and not self.times.is_empty)
        )

    def as_name(self) -> "Request":
        """Return it with the noun read as part of a name: "meeting notes" is no meeting."""
        return replace(self, noun=None, soft_noun=False, words=[self.noun_word, *self.words])


@dataclass(slots=True)
class Asked:
    """A whole message: its main reference, and what surrounds it.

    Attributes:
        negated: Nothing may come of it.
        several: It asks for more than one thing at a time.
        every: Where several are named, all of them are meant, not one of them.
        context: A reference in another clause that a pronoun may mean.
        excluded: References that are expressly not meant.
        typed_ids: Ids of entities, or what looks like one, as the user typed them.
    """

    main: Request = field(default_factory=Request)
    context: Request | None = None
    excluded: list[Request] = field(default_factory=list)
    typed_ids: list[str] = field(default_factory=list)
    negated: bool = False
    several: bool = False
    every: bool = True

    @property
    def names_something(self) -> bool:
        """Whether it names the thing it is about, and does not only point at it."""
        return self.main.has_content and not self.negated

"""Whether an agent's sentence names a patient who is not the open one. Pure."""

from collections.abc import Collection

from data_models.identifiers import PatientId
from services.identity.names.index import PersonIndex
from services.identity.names.matching import Known, Mention, mentions_in
from services.identity.names.person import Person
from services.language.people.mentions import read_words
from services.language.words.letters import folded

_EDGES = ".,;:!?()[]{}*_\"'`’“”|"
_PEOPLE = ("man", "woman", "patient")


class OthersNamed:
    """The names by which an answer about one patient must not speak. Immutable.

    Args:
        index: Everybody whom the directory told of, or whom the conversation knows.
        own: Who is open; None where nobody knows their name.
        roster: Ids of the conversation's patients.
    """

    def __init__(
        self, *, index: PersonIndex, own: Person | None, roster: Collection[PatientId]
    ) -> None:
        self._known = Known(index, own, frozenset(roster))

    def words_in(self, text: str) -> frozenset[str]:
        """Return the folded words by which `text` surely names another patient; none for nobody.

        Given and family name of one person, a family name with a title or a possessive, or any
        name of a patient of the conversation that is no word of common language. What is also a
        name of the open patient, of staff or of a relative names nobody.
        """
        if not any(self._may_name(word) for word in text.split() if not "a" <= word[0] <= "z"):
            return frozenset()
        mentions = mentions_in(read_words(text), self._known)
        sure = (one for one in mentions if self._is_sure(one))
        return frozenset(word.text for one in sure for word in one.span)

    def _may_name(self, word: str) -> bool:
        word = word.strip(_EDGES)
        if not word or not (word[0].isupper() or word[0] > "\u2000"):
            return False
        plain = folded(word.removesuffix("'s").removesuffix("’s"))
        return any(map(self._known.index.exactly, plain.split("-")))

    def _is_sure(self, mention: Mention) -> bool:
        span, people = mention.span, mention.people
        if not people or mention.names_open:
            return False
        if any(word.title in ("staff", "relative") for word in span):
            return False
        if mention.strength not in ("family", "given"):
            return mention.strength == "full"
        is_family = mention.strength == "family"
        if is_family and any(word.title in _PEOPLE or word.is_owner for word in span):
            return True
        is_known = any(one.patient_id in self._known.roster for one in people)
        return is_known and not any(word.is_common or word.is_eponym for word in span)

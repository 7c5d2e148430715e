"""Which English words may say of a patient how he fares, what he has, or what was done to him."""

from scripts.wordnet import Sense, WordNet

_ROOTS = """
condition.n.1 symptom.n.1 psychological_state.n.1 feeling.n.1 trait.n.1 isolation.n.1 habit.n.1
unemployment.n.1 unfortunate.n.1 ill.a.1 weak.a.1 dead.a.1 asleep.a.1 drunk.a.1 immobile.a.1
bare.a.1 unclothed.a.1 happy.a.1 unhappy.a.1 hostile.a.1 violent.a.1 jealous.a.1 covetous.a.1
married.a.1 unmarried.a.1

bodily_process.n.1 sexual_activity.n.1 death.n.1 accident.n.1 mishap.n.1 misfortune.n.1 die.v.1
injure.v.1 hurt.v.2 cut.v.1 sleep.v.1 walk.v.1 groan.v.1 complain.v.1

medical_procedure.n.1 medical_care.n.1 drug.n.1 diagnosis.n.1 medical_science.n.1 emptying.n.1
treat.v.3 bandage.v.1 transgression.n.1 violence.n.1 fight.n.2 attack.n.1 imprisonment.n.1
punishment.n.1 attack.v.1 fight.v.2 kill.v.1 hit.v.3 strike.v.1 beat.v.2 abuse.v.1
"""
"""All that is a kind of these is clinical: how one fares, what the body does or what befalls it,
what is done. Each is a word, its part of speech and which of its meanings."""
_CLINICAL_FILES = frozenset({8, 12, 29, 37})
"""Nouns of the body and of feeling, verbs of the body and of emotion."""
_THINGS = frozenset({5, 6, 8, 12, 13, 15, 17, 18, 19, 20, 27})
"""Animals, artifacts, bodies, feelings, food, places, objects, persons, phenomena, plants and
substances: what one has, takes, lives with or is."""
_DERIVED = r"+ \ = &"
"""Derived from, belonging to, a value of, similar to."""
_SHARE = 0.05
"""A meaning is usual that has this share of the occurrences of a word."""
_MOSTLY = 0.5


class ClinicalMeanings:
    """Tells by WordNet which words are claims about a patient."""

    def __init__(self, *, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        self._roots = frozenset(wordnet.named(one) for one in _ROOTS.split())

    def is_claim(self, word: str) -> bool:
        """Whether a usual meaning of a word is clinical, or most of its use names a thing."""
        return self._is_thing(word) or any(
            self._is_clinical(one, word) for one in self._wordnet.usual(word, least_share=_SHARE)
        )

    def _is_thing(self, word: str) -> bool:
        """Whether half of the occurrences of a word name things; if none was seen, a meaning."""
        counted = self._wordnet.counted(word)
        things = [
            count for one, count in counted.items() if self._wordnet.meanings[one].file in _THINGS
        ]
        total = sum(counted.values())
        if total:
            return sum(things) >= total * _MOSTLY
        return bool(things)

    def _is_clinical(self, sense: Sense, word: str) -> bool:
        words = frozenset(lemma for lemma, _ in self._wordnet.lemmas(word))
        kin = self._wordnet.led_to(sense, _DERIVED, words)
        return self._is_of_root(sense) or any(map(self._is_of_root, kin))

    def _is_of_root(self, sense: Sense) -> bool:
        """Whether a meaning is clinical itself, not only by what it is derived from."""
        file = self._wordnet.meanings[sense].file
        return file in _CLINICAL_FILES or not self._roots.isdisjoint(self._wordnet.above(sense))

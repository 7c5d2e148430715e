"""Whatever is said in whatever order: no patient's words reach another, nor what was archived.

The whole server stands below, on a recording model: what a model was sent is read off the wire.
"""

import logging
from collections.abc import Iterator
from functools import cache

import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import foundation
from services.language.crisis.rules import load_rules
from tests.durability import recorded_chat
from tests.durability.asking import BOOK, LIST, SEND, WRITE
from tests.logged import logs_as_they_were


def held_in(text: str, words: frozenset[str]) -> list[str]:
    """Return the words of a record that stand in `text`, as a value or in brackets."""
    return [word for word in words if f'{word}"' in text or f"{word}]" in text]


class Isolation(RuleBasedStateMachine):
    """Five patients in one conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[recorded_chat.Conversation] = []
        self.answered: list[tuple[str, str]] = []

    @property
    def talk(self) -> recorded_chat.Conversation:
        return self.opened[0]

    def teardown(self) -> None:
        for each in self.opened:
            each.close()

    @initialize()
    def greet(self) -> None:
        self.opened.append(recorded_chat.Conversation())
        self.talk.publish()
        self.talk.say(f"hello, {self.talk.canary('user')}")

    def _switched(self, patient: str) -> None:
        # From here on the words are the new patient's, and so is what its message asks of models.
        self.talk.active = patient

    @rule(patient=st.sampled_from(recorded_chat.PATIENTS))
    def switch(self, patient: str) -> None:
        self._switched(patient)
        run = self.talk.say(f"switch to {patient} and review: {self.talk.canary('user')}")
        assert not run.replayed

    @rule(patient=st.sampled_from(recorded_chat.PATIENTS))
    def switch_barely(self, patient: str) -> None:
        self._switched(patient)
        self.talk.say(f"switch to {patient}")

    @rule()
    def ask(self) -> None:
        canary, name = self.talk.canary("user"), f"ask-{len(self.answered)}"
        text = f"@PatientHistory what of {canary}?"
        self.talk.say(text, message_id=name)
        self.answered.append((text, name))
        # Else this would prove nothing: the wire does show the words, and the record, of whose
        # turn it is.
        shown = "".join(sent for _, sent in self.talk.sent).replace("\\", "")
        assert canary in shown
        own = self.talk.record_words.get(self.talk.active, frozenset())
        assert not own or held_in(shown, own)

    @rule()
    def answer(self) -> None:
        """Words that mean nothing by themselves: a model is shown what they answer."""
        canary = self.talk.canary("user")
        self.talk.say(f"it is {canary}")
        # The reader is asked only where rules leave something open; some model sees the words.
        assert canary in "".join(sent for _, sent in self.talk.sent), "else it proves nothing"

    @rule()
    def recall(self) -> None:
        """Every agent may look up all that was said, of this patient and since the last clear."""
        recalls = self.talk.recalls
        self.talk.say(f"@PatientHistory {recorded_chat.REMEMBER} {self.talk.canary('user')}?")
        assert self.talk.recalls > recalls, "else this would prove nothing"

    @rule()
    def correct(self) -> None:
        """A person's word takes the place of a model's, in the same patient's memory only."""
        self.talk.correct(f"Put right: {self.talk.canary('user')}")

    @rule()
    def begin_a_scenario(self) -> None:
        self.talk.say("start tumor board preparation")
        held = [one for one in self.talk.evidence.contexts() if one.scenario is not None]
        assert self.talk.active == recorded_chat.SESSION or held, "else this would prove nothing"

    @rule()
    def leave_the_scenario(self) -> None:
        self.talk.say("leave the scenario")

    @rule()
    def book(self) -> None:
        """The reason for the appointment is the patient's; the clinic keeps all of them."""
        self.talk.say(f"@AppointmentManager {BOOK}")
        known = self.talk.active != recorded_chat.SESSION
        assert self.talk.asks_for_a_yes == known, "else this would prove nothing"

    @rule()
    def write_a_letter(self) -> None:
        self.talk.say(f"@Secretary {WRITE}")
        self.talk.say(f"@Secretary {SEND}")
        assert self.talk.asks_for_a_yes, "else this would prove nothing"

    @precondition(lambda self: self.opened and self.talk.asks_for_a_yes)
    @rule(word=st.sampled_from(("yes", "no", "what else?")))
    def decide(self, word: str) -> None:
        """A yes is bound to the patient it was asked about; anything else does nothing.

        What the user's own wish waits for is asked again behind what is said beside it.
        """
        question = self.talk.evidence.conversation.open_question
        assert question is not None
        assert (question.patient_id or recorded_chat.SESSION) == self.talk.active
        done = self.talk.booked, self.talk.mails_sent
        self.talk.say(word)
        assert word == "what else?" or not self.talk.asks_for_a_yes
        assert ((self.talk.booked, self.talk.mails_sent) != done) == (word == "yes")

    @rule()
    def list_appointments(self) -> None:
        self.talk.say(f"@AppointmentManager {LIST}")
        shown = "".join(text for _, text in self.talk.sent)
        for canary in self.talk.booked.get(self.talk.active, ()):
            assert canary in shown, "else this would prove nothing"

    @precondition(lambda self: self.answered)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        text, name = data.draw(st.sampled_from(self.answered))
        asked = len(self.talk.sent)
        assert self.talk.say(text, message_id=name).replayed
        assert len(self.talk.sent) == asked

    @rule()
    def stop(self) -> None:
        self.talk.say(f"tell me about {self.talk.canary('user')}", stop=True)

    @rule()
    def name_two(self) -> None:
        """Two ids in one message change nothing and reach no agent."""
        others = [each for each in recorded_chat.PATIENTS if each != self.talk.active]
        self.talk.say(f"compare {others[0]} with {others[1]}")

    @rule()
    def restart(self) -> None:
        self.talk.restart()

    @rule()
    def clear(self) -> None:
        # What the clinic was told is on its own record, which a clear does not touch.
        self.talk.archived |= self.talk.spoken.difference(*self.talk.booked.values())
        self.talk.active = recorded_chat.SESSION
        run = self.talk.say("clear patient context")
        assert not run.replayed

    @invariant()
    def no_model_was_sent_anybody_elses_words(self) -> None:
        sent, self.talk.sent = self.talk.sent, []
        for active, text in sent:
            found = set(recorded_chat.CANARY.findall(text))
            assert {recorded_chat.owner_of(each) for each in found} <= {active}
            assert not found & self.talk.archived
            plain = text.replace("\\", "")  # JSON within JSON
            for patient, words in self.talk.record_words.items():
                assert patient == active or not held_in(plain, words)

    @invariant()
    def the_clinic_keeps_each_patients_words_with_that_patient(self) -> None:
        for patient, canaries in self.talk.booked.items():
            assert {recorded_chat.owner_of(each) for each in canaries} <= {patient}

    @invariant()
    def no_document_holds_two_patients_words(self) -> None:
        for context in self.talk.evidence.contexts():
            found = self.talk.canaries_in(context)
            assert {recorded_chat.owner_of(each) for each in found} <= {
                context.patient_id or recorded_chat.SESSION
            }
            assert not found & self.talk.archived
        active = self.talk.evidence.registry.active_patient_id
        assert (active or recorded_chat.SESSION) == self.talk.active


@pytest.fixture
def only_the_turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is the same in every process is read once, and nobody reads the log."""
    monkeypatch.setattr(foundation, "load_rules", cache(load_rules))
    with logs_as_they_were():
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
        yield


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("only_the_turns")
def test_no_words_cross_from_patient_to_patient() -> None:
    chosen = settings()
    examples = max(5, chosen.max_examples // 20)
    run_state_machine_as_test(
        Isolation,
        settings=settings(
            max_examples=examples,
            stateful_step_count=200 if chosen.max_examples >= 1_000 else 80 if examples > 5 else 40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

"""What the sentences of one message are compared with, and who says them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.language.people.named_person import doctors_named_in, person_named_in
from services.language.sentences.statements import Sentence
from services.language.words.people_words import common_words
from services.language.words.phrases import says
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name, statement_words
from services.statements.rows.known import KnownRows

_OWN_DOCTOR = "general practitioner"
"""Of a patient's own data no other names a doctor: not the maiden name of a mother."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who speaks, as far as it matters for what is checked.

    Attributes:
        reads_records: It has tools of the record: all it states is about the patient.
        may_be_general: Its role allows general medical knowledge, labelled so.
        must_cite: It tells what was published: no statement without the source of a publication.
        leads: It hands over, and looks nothing up itself.
        is_of_errands: It sees to calendars, mail, bookings: all figures it gives are of these.
    """

    reads_records: bool = True
    may_be_general: bool = False
    must_cite: bool = False
    is_of_errands: bool = False
    leads: bool = False


@dataclass(slots=True, kw_only=True)
class Grounds:
    """What sentences are compared with.

    Attributes:
        rows: Of this turn's tools and earlier ones about the same patient.
        held: What users said and memory holds; supports only "as you said".
        papers: What papers say that users gave; supports only sentences that cite one.
        own_names: Stems of words that name this patient.
        has_name: Whether the patient's own name is known, so that any other is a stranger's.
        deeds: Kinds of deeds that tools of this conversation did, such as `booked`.
        refused: Those that tools of this turn failed to do, and did not do.
        found_done: Those that tools found done: they prove that something is so, not who did it.
        is_other_patient: Whether a text holds the id of a patient who is not this one.
        others_named: Words by which a text names such a patient.
        asked: Names of what the message asks about, as far as it was looked up.
        asked_now: Those of what is taken, or had, now.
        question: The user's message.
    """

    rows: KnownRows = field(default_factory=KnownRows)
    held: KnownRows = field(default_factory=KnownRows)
    papers: KnownRows = field(default_factory=KnownRows)
    deeds: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    found_done: set[str] = field(default_factory=set)
    is_other_patient: Callable[[str], bool] = lambda _: False
    others_named: Callable[[str], frozenset[str]] = lambda _: frozenset()
    own_names: frozenset[str] = frozenset()
    has_name: bool = False
    asked: tuple[str, ...] = ()
    asked_now: frozenset[str] = frozenset()
    question: str = ""

    def is_published(self, sentence: Sentence) -> bool:
        """Whether a sentence tells what a study found, with its source, and nothing of a chart."""
        if "about_patient" in sentence.cues or any(one.names for one in sentence.clauses):
            return False
        is_told = bool(sentence.refs) and self.rows.published.issuperset(sentence.refs)
        return is_told and says(sentence.text, "of_research")

    def is_other_person(self, text: str) -> bool:
        """Whether a sentence is about somebody by a name that neither rows nor server know."""
        words = person_named_in(text)
        # "Ein Prädiabetes ist bekannt": German writes every noun as it writes names.
        terms = {
            word for word in words if is_clinical_name(word) or word in statement_words().translated
        }
        return bool(words) and not terms and words.isdisjoint(self.rows.words | self.own_names)

    def is_other_doctor(self, text: str) -> bool:
        """Whether a sentence names a doctor of whom neither rows nor users have a word."""
        if not (doctors := doctors_named_in(text)):
            return False
        rows = self.rows.rows
        rows = [row for row in rows if row.kind != "personal" or row.says.startswith(_OWN_DOCTOR)]
        known = (self.held.words, self.own_names, *(row.words for row in rows))
        return any(all(map(one.isdisjoint, known)) for one in doctors)

    def is_of_another(self, text: str) -> bool:
        """Whether a sentence surely names a patient, or somebody, who is not this one.

        A name that the rows have is the record's own: of a contact, of who signed a report.
        """
        if self.is_other_patient(text):
            return True
        named = {stem(word) for word in self.others_named(text)}
        if named and not named <= self.rows.words:
            return True
        is_stranger = self.has_name and self.is_other_person(text)
        return is_stranger and common_words().isdisjoint(person_named_in(text))

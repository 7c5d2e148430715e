"""What the user reads about patients (spec page 1.9)."""

from collections.abc import Mapping
from typing import assert_never

from data_models.identifiers import PatientId
from services.identity.names.person import Person, both_identifiers
from services.identity.wording import opened
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Ask

REVIEW_QUESTION = "What would you like to review?"


def asking(
    ask: Ask,
    *,
    pattern: PatientIdPattern,
    roster_size: int,
    people: Mapping[PatientId, Person],
    problem: str = "",
) -> str:
    """Return the question; `problem` says what happened if a model failed.

    Patients other than `people`, whom the user may see, are called by id.
    """
    named = {one: person for one, person in people.items() if person.name}
    called = [
        f"{both_identifiers(named[one])} ({code(one)})" if one in named else code(one)
        for one in ask.options
    ]
    match ask.kind:
        case "id":
            return _joined(
                need_an_id(pattern), f"{code(ask.unfit)} is not one." if ask.unfit else "", problem
            )
        case "which":
            *first, last = called
            options = f"{', '.join(first)} or {last}" if first else last
            return _joined(
                f"Which patient do you mean: {options}? One at a time, please.",
                f"Nothing was changed; answer with an ID like '{pattern.example()}'.",
                problem,
            )
        case "meant":
            return _joined(
                f"Do you mean {called[0]}?",
                f"Answer yes, or send an ID like '{pattern.example()}'.",
                problem,
            )
        case "clear":
            return whether_to_clear(roster_size)
        case _:
            assert_never(ask.kind)


def need_an_id(pattern: PatientIdPattern) -> str:
    """Return the request for an id, in the configured form."""
    return f"I need a patient ID like '{pattern.example()}'."


def whose(pattern: PatientIdPattern) -> str:
    """Return the question to a wish that came before any patient."""
    return (
        "Which patient is this for? Answer with a full name, a birth date or an ID like "
        f"'{pattern.example()}', and I go on."
    )


def switched(patient_id: PatientId, person: Person | None = None) -> str:
    """Return the answer to a bare change of patient, with both identifiers where known."""
    who = "" if person is None else f" {opened(person)}"
    return f"Switched to {patient_id}.{who} {REVIEW_QUESTION}"


def already_active(patient_id: PatientId, person: Person | None = None) -> str:
    """Return the answer to a bare change to the patient who is active."""
    who = "" if person is None else f" This is the chart of {both_identifiers(person)}."
    return f"{patient_id} is already active.{who} {REVIEW_QUESTION}"


def declined(active: PatientId | None, pattern: PatientIdPattern, *, is_clear: bool) -> str:
    """Return the answer to a no where a patient, or whether to clear, was asked for."""
    if is_clear:
        return "All right, nothing was cleared."
    if active is None:
        return f"All right, nothing was changed. {need_an_id(pattern)}"
    return f"All right, nothing was changed: {code(active)} is active."


def code(text: str) -> str:
    """Return an id as inline code; ids hold no character that could end it."""
    return f"`{text}`"


def whether_to_clear(roster_size: int) -> str:
    """Return the question whether to clear a conversation of so many patients."""
    patients = "1 patient" if roster_size == 1 else f"{roster_size} patients"
    return (
        f"Clear this whole conversation, with {patients} and all their history? Everything is "
        "archived and the chat starts empty. Please answer yes or no."
    )


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))

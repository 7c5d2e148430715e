"""What the user reads about who is meant: always two identifiers."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from data_models.plain_yaml import read_yaml
from services.identity.names.person import Person, age_of, both_identifiers
from services.identity.subject import Subject

YES_OUT = "Answer with “yes” for the first, a number or a name; “no” drops it."
WAY_OUT = "Answer with a number or a name; “no” drops it."
OPENED = "Opened the chart of {person}."
SAY_WHICH = "Please say which one: answer with the number before the name, or press a button."
_SEXES = {"male": "male", "female": "female", "other": "other sex"}


def opened(person: Person) -> str:
    """Return the sentence that a chart is open."""
    return OPENED.format(person=f"{both_identifiers(person)} ({person.patient_id})")


def unknown_number(number: str) -> str:
    """Return the answer to a number that nobody carries."""
    return (
        f"Nobody has the number `{number}`. Nothing was opened; check the number, or give the "
        "patient's full name and birth date."
    )


def option_line(person: Person, today: date, *, is_open: bool = False) -> str:
    """Return one candidate: name, birth date, sex, id."""
    age = age_of(person, today)
    facts = [f"born {person.birth_date}" if person.birth_date else "birth date unknown"]
    facts += [age] if age else []
    facts += [_SEXES[person.sex]] if person.sex in _SEXES else []
    mark = ", whose chart is open" if is_open else ""
    number = person.patient_id or "without a number of the configured form"
    return f"**{person.name or 'No name recorded'}**, {', '.join(facts)} ({number}){mark}"


_QUESTIONS: Mapping[str, str] = read_yaml(Path(__file__).with_name("questions.yaml").read_bytes())
_NAMES_OPEN = frozenset({"nobody", "stranger", "described", "pronoun", "unanswered"})


def asked(subject: Subject, open_one: Person | None) -> str:
    """Return the question, without its options."""
    said = f"“{subject.said}”" if subject.said else "this"
    text = _QUESTIONS.get(subject.reason, "Whom do you mean by {said}?").format(said=said)
    if open_one is None or subject.people or subject.reason not in _NAMES_OPEN:
        return text  # "yes" says nothing where others are offered
    hint = f" {_QUESTIONS['no_name']}" if subject.reason == "stranger" else ""
    return f"{text} Is this about {both_identifiers(open_one)} ({open_one.patient_id})?{hint}"

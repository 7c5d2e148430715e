"""What the user reads about who is meant: always two identifiers."""

from collections.abc import Mapping
from datetime import date

from services.identity.names.person import Person, age_of, both_identifiers
from services.identity.subject import Reason, Subject

WAY_OUT = "Answer with a number or a name; “no” drops it."
SAY_WHICH = "Please say which one: answer with the number before the name, or press a button."
_SEXES = {"male": "male", "female": "female", "other": "other sex"}


OPENED = "Opened the chart of {person}."


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


_QUESTIONS: Mapping[Reason, str] = {
    "several": "Your message may be about more than one patient. Whom is it about?",
    "nobody": "Nobody has the number {said}.",
    "stranger": "I know no patient called {said}.",
    "retired": "The number {said} is no longer in use. Do you mean its former holder?",
    "merged": "The chart with the number {said} was merged into another that I cannot find.",
    "former": "{said} is a former name. Whom do you mean?",
    "nearly": "Whom do you mean by {said}? It is not spelled as anybody's name or number here.",
    "contradiction": "Name, age or birth date do not fit: {said}. Whom do you mean?",
    "elsewhere": "Another chart was opened here meanwhile. Whom is your message about?",
    "described": "Somebody is described there and not named. Whom do you mean?",
    "pronoun": "Whom do you mean? It does not fit the sex recorded for the open patient.",
    "compared": "Two charts were side by side just now. Whom is your message about?",
    "unanswered": "The directory of patients does not answer just now, so I cannot tell whom you "
    "mean.",
}
_NAMES_OPEN = frozenset({"nobody", "stranger", "described", "pronoun", "unanswered"})


def asked(subject: Subject, open_one: Person | None) -> str:
    """Return the question, without its options."""
    said = f"“{subject.said}”" if subject.said else "this"
    text = _QUESTIONS.get(subject.reason, "Whom do you mean by {said}?").format(said=said)
    if open_one is None or subject.people or subject.reason not in _NAMES_OPEN:
        return text  # "yes" says nothing where others are offered
    return f"{text} Is this about {both_identifiers(open_one)} ({open_one.patient_id})?"

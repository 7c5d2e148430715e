"""Reads one message into an `Utterance`, by exact rules alone. Pure."""

from services.language.addressing import addressee_in
from services.language.commands import command_in
from services.language.detection import language_of
from services.language.references import numbers_in, references_in
from services.language.utterance import Situation, Task, Utterance
from services.language.yes_no import yes_no_in

LONGEST_READ_CHARS = 4_000
"""What is longer is a document: its beginning is read."""


def read(message: str, situation: Situation) -> Utterance:
    """Return what `message` says; what rules cannot tell is left at its default."""
    text = message[:LONGEST_READ_CHARS]
    addressee, words = addressee_in(text, situation.team)
    yes_no, command = yes_no_in(words), command_in(words)
    return Utterance(
        text=message,
        language=language_of(words, default=situation.language),
        yes_no=yes_no,
        command=command,
        task="talk" if yes_no or command else _task(words),
        addressee=addressee,
        agent=addressee,
        references=references_in(words),
        numbers=numbers_in(words),
    )


def _task(words: str) -> Task:
    return "answer" if words.strip() else "talk"

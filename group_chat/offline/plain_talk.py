"""What the offline rules answer where nobody is needed: greetings, help, and what they cannot do.

Each answer says plainly what cannot be done, and what can be done instead.
"""

from group_chat.offline.assistant import names_office_thing
from group_chat.offline.prompt import Prompt
from group_chat.offline.words import known_word_like, query_of, topics_of
from services.language.addressing import without_address
from services.language.detection import is_unread, language_of
from services.language.phrases import says
from services.language.statement_parts import REFERENCE
from services.language.talk_texts import talk_text
from services.language.text_words import all_words
from services.language.yes_no import yes_no_in

LONG_CHARS = 1_500
_SHORT_WORDS = 12
_SOURCES_SHOWN = 8
# Wishes that nobody here can carry out; our text about each has its name.
_CANNOT = (
    "prints", "closes_chart", "takes_back", "says_wrong", "reaches_people", "asks_language",
    "goes_back", "wants_more",
)  # fmt: skip


def plain_answer(prompt: Prompt) -> str | None:
    """Return the answer to a message that needs no record; None for any other."""
    text = prompt.asked
    if not any(map(str.isalnum, text)):
        return _not_understood(prompt)
    asks_for_help = prompt.utterance is not None and prompt.utterance.command == "help"
    if asks_for_help or says(text, "help_wanted"):
        return help_for(prompt)
    return _cannot(prompt) or courtesy(prompt)


def courtesy(prompt: Prompt) -> str | None:
    """Return the answer to a greeting, to thanks and to a yes that nothing asked for."""
    text = without_address(prompt.asked)
    if says(text, "greeting"):
        return prompt.text("hello", next=what_next(prompt))
    if says(text, "thanks"):
        return prompt.text("welcome")
    if says(text, "bare") or (yes_no_in(text) in ("yes", "no") and not says(text, "cancel")):
        return prompt.text("nothing_waits")
    return None


def help_for(prompt: Prompt) -> str:
    """Return what works, and how to begin where no patient is open."""
    parts = [] if prompt.patient_id is not None else [prompt.text("no_patient_yet")]
    return "\n\n".join([prompt.text("help"), *parts])


def only_names_patient(prompt: Prompt) -> bool:
    """Whether the message opens a patient, as "start with patient_4", and wants nothing yet."""
    named = any(patient.casefold() in prompt.asked.casefold() for patient in prompt.patients)
    return named and not query_of(prompt.asked, besides=prompt.patients)


def not_understood(prompt: Prompt) -> str:
    """Return that the message was not understood, and what it may mean or what works."""
    if is_unread(prompt.asked):
        return talk_text(language_of(prompt.asked), "not_my_language")
    if len(prompt.asked) > LONG_CHARS:
        return prompt.text("too_long")
    return _not_understood(prompt)


def _not_understood(prompt: Prompt) -> str:
    near = {word: known_word_like(word) for word in all_words(prompt.asked)[:_SHORT_WORDS]}
    guesses = {word: known for word, known in near.items() if known is not None}
    if guesses:
        meant = prompt.asked
        for word, known in guesses.items():
            meant = meant.replace(word, known)
        return prompt.text("if_you_mean", meant=" ".join(meant.split()))
    return prompt.text("not_understood", help=help_for(prompt))


def _cannot(prompt: Prompt) -> str | None:
    """Return what is said to a wish that nobody here can carry out."""
    text = prompt.asked
    if len(text.split()) > _SHORT_WORDS:
        return None
    if (wish := next((one for one in _CANNOT if says(text, one)), None)) is not None:
        return prompt.text(wish)
    is_of_user = says(text, "timetable") or names_office_thing(text)
    if says(text, "writes_record") and not is_of_user:
        return prompt.text("only_read")
    is_about_sources = says(text, "asks_source") and not topics_of(text) and prompt.patient_id
    return _sources(prompt) if is_about_sources else None


def _sources(prompt: Prompt) -> str:
    """Return the sources of the newest answer that names any."""
    for spoken in reversed(prompt.earlier):
        refs = list(dict.fromkeys(one[0] for one in REFERENCE.finditer(spoken.text)))
        if refs:
            more = len(refs) - _SOURCES_SHOWN
            rows = [f"- {ref}" for ref in refs[:_SOURCES_SHOWN]]
            rows += [prompt.text("more_sources", count=more)] if more > 0 else []
            return prompt.text("sources", agent=spoken.agent, rows="\n".join(rows))
    return prompt.text("no_source")


def what_next(prompt: Prompt) -> str:
    """Return whose record is open, and ask what is wanted of it."""
    if prompt.patient_id is None:
        return prompt.text("no_patient_yet")
    return prompt.text("is_open", patient=prompt.patient_id)

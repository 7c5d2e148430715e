"""What the offline rules answer where nobody is needed: greetings, help, and what they cannot do.

Each answer says plainly what cannot be done, and what can be done instead.
"""

from group_chat.offline.assistant import names_office_thing
from group_chat.offline.prompt import Prompt
from group_chat.offline.words import known_word_like, query_of, topics_of
from services.language.addressing import without_address
from services.language.detection import is_unread
from services.language.phrases import says
from services.language.statements import REFERENCE
from services.language.text_words import all_words
from services.language.yes_no import yes_no_in

LONG_CHARS = 1_500
_SHORT_WORDS = 12
_SOURCES_SHOWN = 8
_EXAMPLES = (
    "- start tumor board\n"
    "- what is the current status, the timeline, the imaging, the pathology\n"
    "- any hemoglobin?\n"
    "- which patients have we discussed\n"
    "- I want to see Dr. Smith\n"
    "- what's on my calendar tomorrow"
)
HELP = (
    "I can propose a plan for a tumor board, pass a question on to one agent of the team, give an "
    "overview of the record, arrange an appointment, look into your calendar, or say which "
    f"patients were discussed. Try one of these:\n{_EXAMPLES}"
)
NOTHING_TO_CANCEL = (
    "I do not know what to cancel; nothing was changed. Name it, for example: cancel the "
    "appointment, or: cancel the ward round tomorrow."
)
_NO_PATIENT_YET = (
    "No patient is active yet. Name one to begin, for example: start tumor board for patient_4."
)
_SIMPLE = (
    (
        "prints",
        "I cannot print or send anything. On the web page, *Export* in the bar above gives this "
        "conversation as text, Word or JSON, and your browser prints the page.",
    ),
    (
        "takes_back",
        "I cannot take back what was said. *Memory* on the web page undoes corrections; an "
        "appointment can be moved or cancelled; what was cleared is kept in the archive.",
    ),
    (
        "says_wrong",
        "I only repeat what the record and this conversation hold. A mistake in the record is put "
        "right in the clinical system; what is remembered of this conversation, under *Memory* on "
        "the web page. Press a source to read what it says.",
    ),
    (
        "reaches_people",
        "I cannot call or write to anybody, write letters or set reminders. I can draft a mail "
        "from your own mailbox, or note a task: add a task to call the lab by Friday.",
    ),
    ("asks_language", "I understand English and German; a language model of your own does more."),
    (
        "goes_back",
        "To turn to another patient, name that patient, for example: switch to patient_4.",
    ),
    ("wants_more", "All that I found is in the answer above. Please ask again in full."),
)


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
        return f"Hello. {what_next(prompt)}"
    if says(text, "thanks"):
        return "You are welcome."
    if says(text, "bare") or (yes_no_in(text) in ("yes", "no") and not says(text, "cancel")):
        return "All right. Nothing waits for an answer; ask me anything about the record."
    return None


def help_for(prompt: Prompt) -> str:
    """Return what works, and how to begin where no patient is open."""
    return HELP if prompt.patient_id is not None else f"{HELP}\n\n{_NO_PATIENT_YET}"


def only_names_patient(prompt: Prompt) -> bool:
    """Whether the message opens a patient, as "start with patient_4", and wants nothing yet."""
    named = any(patient.casefold() in prompt.asked.casefold() for patient in prompt.patients)
    return named and not query_of(prompt.asked, besides=prompt.patients)


def not_understood(prompt: Prompt) -> str:
    """Return that the message was not understood, and what it may mean or what works."""
    if is_unread(prompt.asked):
        return (
            "I understand English and German only, so I cannot answer this. Ask: “What is the "
            "current stage?” A language model of your own understands other languages."
        )
    if len(prompt.asked) > LONG_CHARS:
        return (
            "I cannot make sense of a long text; nothing was taken from it into the record. It "
            "stays in this conversation. Ask one short question about the patient."
        )
    return _not_understood(prompt)


def _not_understood(prompt: Prompt) -> str:
    near = {word: known_word_like(word) for word in all_words(prompt.asked)[:_SHORT_WORDS]}
    guesses = {word: known for word, known in near.items() if known is not None}
    if guesses:
        meant = prompt.asked
        for word, known in guesses.items():
            meant = meant.replace(word, known)
        return f"I did not understand that. If you mean “{' '.join(meant.split())}”, write it so."
    return f"I did not understand that. {help_for(prompt)}"


def _cannot(prompt: Prompt) -> str | None:
    """Return what is said to a wish that nobody here can carry out."""
    text = prompt.asked
    if len(text.split()) > _SHORT_WORDS:
        return None
    for wish, answer in _SIMPLE:
        if says(text, wish):
            return answer
    is_of_user = says(text, "timetable") or names_office_thing(text)
    if says(text, "writes_record") and not is_of_user:
        return (
            "Clinical records are only read here: I cannot change, delete, order or prescribe "
            "anything. Please do that in the clinical system."
        )
    is_about_sources = says(text, "asks_source") and not topics_of(text) and prompt.patient_id
    return _sources(prompt) if is_about_sources else None


def _sources(prompt: Prompt) -> str:
    """Return the sources of the newest answer that names any."""
    for spoken in reversed(prompt.earlier):
        refs = list(dict.fromkeys(one[0] for one in REFERENCE.finditer(spoken.text)))
        if refs:
            more = len(refs) - _SOURCES_SHOWN
            rest = f"\n- … and {more} more" if more > 0 else ""
            rows = "\n".join(f"- {ref}" for ref in refs[:_SOURCES_SHOWN])
            return (
                f"The last answer with sources is {spoken.agent}'s. It names:\n{rows}{rest}\n\n"
                "Press a source in that answer to read it at the passage."
            )
    return "Nothing with a source was said yet. Ask about the record; each answer names its own."


def what_next(prompt: Prompt) -> str:
    """Return whose record is open, and ask what is wanted of it."""
    if prompt.patient_id is None:
        return _NO_PATIENT_YET
    return f"`{prompt.patient_id}` is open. What would you like to review?"

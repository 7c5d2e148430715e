"""What the offline rules answer where nobody is needed: greetings, help, and what they cannot do.

Each answer says plainly what cannot be done, and what can be done instead.
"""

import re

from group_chat.offline.assistant import names_office_thing
from group_chat.offline.languages import is_foreign
from group_chat.offline.prompt import Prompt
from group_chat.offline.words import known_word_like, query_of, topics_of

LONG_CHARS = 1_500
_SHORT_WORDS = 12
_SOURCES_SHOWN = 8
_REF = re.compile(r"\[([A-Z][A-Za-z]{2,40}/[A-Za-z0-9.-]{1,64})\]")
_TOKEN = re.compile(r"[^\W\d_][\w-]*")
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
_ADDRESSED = re.compile(r"\A\W*@[\w-]+[\s,:]+")
_GREETING = re.compile(
    r"(?i)\W*(?:hi|hello|hey|hallo|hola|bonjour|moin|servus|good (?:morning|afternoon|evening|day)"
    r"|guten (?:morgen|tag|abend))(?: (?:there|all|team|everyone|doc|doctor|again))?\W*"
)
_THANKS = re.compile(
    r"(?i)\W*(?:many |ok(?:ay)? |great |no )?(?:thanks?|thx|cheers|danke|gracias|merci)"
    r"(?: (?:you|a lot|so much|very much|all|everyone))*\W*"
)
_BARE = re.compile(
    r"(?i)\W*(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|sure|fine|alright|all right|good|great|perfect"
    r"|nice|got it|i see|never ?mind|forget (?:about )?(?:it|that|this)|bye|goodbye|(?:please )?"
    r"(?:confirm|proceed|continue|go ahead))\W*"
)
_HELP_WANTED = re.compile(
    r"(?i)\W*(?:(?:i need |please )?help(?: me)?|commands?|options|menu|how (?:does|do) (?:this|it"
    r"|you) work|(?:who|what) are you|are you (?:an? )?(?:ai|bot|human|person|robot|doctor|chatgpt"
    r"|language model|computer|machine)|what (?:else )?(?:can|do) (?:you|i|we) (?:do|ask|say)"
    r"(?: here| for me)?|what(?:'s| is) this(?: for)?)\W*"
)
_SOURCE = re.compile(
    r"(?i)\A\W*(?:are you (?:sure|certain)|really)\W*\Z|\bhow do you know\b|\bsays who\b"
    r"|\b(?:sources?|references?|citations?)\b"
    r"|\bwhere (?:is|does|did) (?:that|this|it|you) (?:come |get |have )?(?:that |this |it )?from\b"
)
_PRINT = re.compile(
    r"(?i)\A\W*(?:please |can (?:you|i|we) |could you )*(?:print|export|save|fax)\b"
)
_UNDO = re.compile(
    r"(?i)\A\W*(?:please |can you |could you )*(?:undo|redo|revert|take (?:that|it|this) back)\b"
)
_WRITES = re.compile(
    r"(?i)\A\W*(?:please |can you |could you )*(?:delete|erase|remove|edit|correct|update|change"
    r"|overwrite|prescribe|order|increase|decrease|discontinue|stop|enter|record)\b[^?\n]{0,60}"
    r"\b(?:records?|chart|diagnos[ie]s|stage|allerg\w+|medications?|meds|notes?|prescriptions?"
    r"|dose|labs?|bloods?|blood tests?|ct|mri|pet|scans?|x-?rays?|biops\w+|\w+(?:inib|mab|platin"
    r"|taxel|pril|statin))\b"
)
_WRONG = re.compile(
    r"(?i)\A\W*(?:no,? )?(?:that(?:['’]s| is| was)?|this is|it(?:['’]s| is)|you(?:['’]re| are)) "
    r"(?:wrong|incorrect|false|mistaken|not (?:true|right|correct))\b"
)
_REACHES = re.compile(
    r"(?i)\A\W*(?:please |can you |could you )*(?:(?:phone|call|text|message|sms|page|fax) "
    r"(?:the|her|him|them|my|his|dr)\b|write (?:her |him |them |me |a |the )*"
    r"(?:discharge |referral )?letters?\b|remind me\b|set (?:a |an )?(?:alarm|reminder)\b)"
)
_TONGUE = re.compile(
    r"(?i)\A\W*(?:please |can you |could you |do you )*"
    r"(?:translate|(?:speak|talk|answer|reply) (?:in )?(?:german|spanish|french|italian|turkish"
    r"|polish|chinese|arabic|deutsch|español|français))\b"
)
_BACK = re.compile(r"(?i)\W*(?:please )?(?:go )?back(?: please)?\W*\Z")
_MORE = re.compile(
    r"(?i)\W*(?:more|again|repeat(?: (?:that|it|please))*|say (?:that|it) again)(?: please)?\W*\Z"
)
_SIMPLE: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        _PRINT,
        "I cannot print or send anything. On the web page, *Export* in the bar above gives this "
        "conversation as text, Word or JSON, and your browser prints the page.",
    ),
    (
        _UNDO,
        "I cannot take back what was said. *Memory* on the web page undoes corrections; an "
        "appointment can be moved or cancelled; what was cleared is kept in the archive.",
    ),
    (
        _WRONG,
        "I only repeat what the record and this conversation hold. A mistake in the record is put "
        "right in the clinical system; what is remembered of this conversation, under *Memory* on "
        "the web page. Press a source to read what it says.",
    ),
    (
        _REACHES,
        "I cannot call or write to anybody, write letters or set reminders. I can draft a mail "
        "from your own mailbox, or note a task: add a task to call the lab by Friday.",
    ),
    (_TONGUE, "I understand and speak English only; a language model of your own does more."),
    (_BACK, "To turn to another patient, name that patient, for example: switch to patient_4."),
    (_MORE, "All that I found is in the answer above. Please ask again in full."),
)
_TIMETABLE = re.compile(r"(?i)\bappointments?\b|\bslots?\b|\bplan\b")


def plain_answer(prompt: Prompt) -> str | None:
    """Return the answer to a message that needs no record; None for any other."""
    text = prompt.asked
    if not _TOKEN.search(text) and not any(each.isdigit() for each in text):
        return _not_understood(prompt)
    asks_for_help = prompt.utterance is not None and prompt.utterance.command == "help"
    if asks_for_help or _HELP_WANTED.fullmatch(text):
        return help_for(prompt)
    return courtesy(prompt) or _cannot(prompt)


def courtesy(prompt: Prompt) -> str | None:
    """Return the answer to a greeting, to thanks and to a yes that nothing asked for."""
    text = _ADDRESSED.sub("", prompt.asked)
    if _GREETING.fullmatch(text):
        return f"Hello. {what_next(prompt)}"
    if _THANKS.fullmatch(text):
        return "You are welcome."
    if _BARE.fullmatch(text):
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
    if is_foreign(prompt.asked):
        return (
            "I understand English only, so I cannot answer this. Ask for example: “What is the "
            "current stage?” A language model of your own understands other languages."
        )
    if len(prompt.asked) > LONG_CHARS:
        return (
            "I cannot make sense of a long text; nothing was taken from it into the record. It "
            "stays in this conversation. Ask one short question about the patient."
        )
    return _not_understood(prompt)


def _not_understood(prompt: Prompt) -> str:
    near = {word: known_word_like(word) for word in _TOKEN.findall(prompt.asked)[:_SHORT_WORDS]}
    guesses = {word: known for word, known in near.items() if known is not None}
    if guesses:
        meant = _TOKEN.sub(lambda found: guesses.get(found[0], found[0]), prompt.asked)
        return f"I did not understand that. If you mean “{' '.join(meant.split())}”, write it so."
    return f"I did not understand that. {help_for(prompt)}"


def _cannot(prompt: Prompt) -> str | None:
    """Return what is said to a wish that nobody here can carry out."""
    text = prompt.asked
    if len(text.split()) > _SHORT_WORDS:
        return None
    for pattern, answer in _SIMPLE:
        if pattern.match(text):
            return answer
    is_of_user = _TIMETABLE.search(text) or names_office_thing(text)
    if _WRITES.search(text) and not is_of_user:
        return (
            "Clinical records are only read here: I cannot change, delete, order or prescribe "
            "anything. Please do that in the clinical system."
        )
    is_about_sources = _SOURCE.search(text) and not topics_of(text) and prompt.patient_id
    return _sources(prompt) if is_about_sources else None


def _sources(prompt: Prompt) -> str:
    """Return the sources of the newest answer that names any."""
    for spoken in reversed(prompt.earlier):
        refs = list(dict.fromkeys(_REF.findall(spoken.text)))
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

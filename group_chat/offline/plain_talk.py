"""What the offline rules answer where nobody is needed: greetings, help, and what they cannot do.

Each answer says plainly what cannot be done, and what can be done instead.
"""

from group_chat.direct_answers import deeds_told
from group_chat.offline.prompt import OfflineReply, Prompt
from services.language.charts.answer_words import answer_words
from services.language.charts.tools_named import SEARCH
from services.language.people.named_person import is_known_name
from services.language.people.strange_words import is_strange
from services.language.replies.addressing import without_address
from services.language.replies.yes_no import yes_no_in
from services.language.requests.work import LONG_CHARS, asks_record, impossible_wish
from services.language.sentences.statement_parts import REFERENCE
from services.language.told.held_statements import held_statements, stated_in
from services.language.told.telling import told_in
from services.language.utterance import ChartQuestion
from services.language.words.detection import is_unread, language_of
from services.language.words.folding import fold
from services.language.words.phrases import parts_in, says
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name
from services.language.words.talk_texts import talk_text
from services.language.words.text_words import telling_words
from services.records.answers import as_said

_SOURCES_SHOWN, _SHOWN_CHARS = 8, 240


def plain_answer(prompt: Prompt) -> OfflineReply | None:
    """Return the answer to a message that needs no record; None for any other."""
    if not any(map(str.isalnum, prompt.asked)):
        return not_understood(prompt)
    if prompt.read.command == "help" or says(prompt.asked, "help_wanted"):
        return OfflineReply(text=_help_for(prompt))
    return _cannot(prompt) or courtesy(prompt)


def courtesy(prompt: Prompt) -> OfflineReply | None:
    """Return the answer to a greeting, to thanks and to a yes that nothing asked for."""
    text = without_address(prompt.asked)
    if says(text, "greeting"):
        return prompt.say("hello", next=what_next(prompt).text)
    if says(text, "thanks"):
        return prompt.say("welcome")
    is_reply = says(text, "bare") or (yes_no_in(text) in ("yes", "no") and not says(text, "cancel"))
    return prompt.say("nothing_waits") if is_reply else None


def _help_for(prompt: Prompt) -> str:
    """Return what works, and how to begin where no patient is open."""
    rest = "" if prompt.patient_id is not None else f"\n\n{prompt.text('no_patient_yet')}"
    return f"{prompt.text('help')}{rest}"


def not_understood(prompt: Prompt) -> OfflineReply:
    """Return that the message was not understood, and what it may mean or what works."""
    if is_unread(prompt.asked):
        return OfflineReply(text=talk_text(language_of(prompt.asked), "not_my_language"))
    if len(prompt.asked) > LONG_CHARS:
        return prompt.say("too_long")
    if told := "; ".join(told_in(prompt.asked)):
        return prompt.say("not_held", told=told)
    return prompt.say("not_understood", help=_help_for(prompt))


def _cannot(prompt: Prompt) -> OfflineReply | None:
    """Return what is said to a wish that nobody here can carry out."""
    wish = impossible_wish(prompt.asked)
    if says(prompt.asked, "orders_test") and not says(prompt.asked, "task"):
        wish = None if prompt.who_has("draft_order") else "only_read"
    if wish in ("only_read", "reaches_people"):
        told = "; ".join(told_in(prompt.asked)) if prompt.patient_id is not None else ""
        held = f"\n\n{prompt.text('not_held', told=told)}" if told else ""
        return OfflineReply(text=f"{prompt.text(wish)}{held}")
    if says(prompt.asked, "asks_whether_drafted") and not prompt.who_has("draft_order"):
        wish = "asks_of_deed"
    if wish == "asks_of_deed":
        return OfflineReply(text=deeds_told(prompt.asked, prompt.earlier, prompt.text))
    if wish is not None:
        return prompt.say(wish, who=prompt.who)
    is_of_chart = prompt.patient_id is None or bool(prompt.read.about)
    return _sources(prompt) if says(prompt.asked, "asks_source") and not is_of_chart else None


def _sources(prompt: Prompt) -> OfflineReply:
    """Return the sources of the last answer."""
    if not any(REFERENCE.search(spoken.text) for spoken in prompt.earlier):
        return prompt.say("no_source")
    refs = [*dict.fromkeys(one[0] for one in REFERENCE.finditer(prompt.shown_before))]
    more = len(refs) - _SOURCES_SHOWN
    rows = [f"- {ref}" for ref in refs[:_SOURCES_SHOWN]]
    rows += [prompt.text("more_sources", count=more)] if more > 0 else []
    return prompt.say("sources" if refs else "none_of_last", rows="\n".join(rows))


def noted(prompt: Prompt) -> OfflineReply | None:
    """Return that a statement is noted, where the message makes one and asks nothing."""
    is_turn = prompt.cue in ("none", "waiting") and not prompt.said
    if not is_turn or "?" in prompt.asked or prompt.patient_id is None:
        return None
    stated = [one.quote for one in held_statements(prompt.asked) if not one.only_if_held]
    # By name: whose name it is, who held it knows.
    stated = stated or [one.quote for one in stated_in(prompt.asked) if one.quote in prompt.held]
    if stated:
        return prompt.say("noted", quotes=" ".join(dict.fromkeys(stated)))
    if prompt.read.task != "tell":
        return None
    told = " ".join(prompt.asked.split())
    shown = told if len(told) <= _SHOWN_CHARS else f"{told[:_SHOWN_CHARS]} …"
    held = as_said.held_about(told, prompt.held) or as_said.held_put_right(told, prompt.held)
    rest = f" {prompt.text('still_held', held='; '.join(held))}" if held else ""
    return OfflineReply(text=f"{prompt.text('not_held', told=shown)}{rest}")


def said_here(prompt: Prompt) -> str:
    """Return what users said of what is asked; "" where that is nothing, or nobody asks."""
    questions = [ChartQuestion(SEARCH, name=prompt.query)] if prompt.cue != "step" else []
    told = as_said.told_before(prompt.heard) if questions else []
    words = answer_words(prompt.language)
    return as_said.told_as_said(questions, words, held=prompt.held, told=told, text=prompt.asked)


def nobody_open(prompt: Prompt) -> OfflineReply:
    """Return that no chart is open, and what to name where the turn will not ask for it."""
    name = "no_patient" if asks_record(prompt.asked, prompt.read) else "no_patient_named"
    return nobody_called(prompt) or prompt.say(name, told=prompt.text("no_patient"))


def nobody_called(prompt: Prompt) -> OfflineReply | None:
    """Return that nobody has the name of whose chart is to be opened."""
    opened = parts_in(prompt.asked, "opens_somebody")
    for word in telling_words("" if opened is None else opened["who"])[:1]:
        folded = fold(word)[0]
        if is_strange(folded) or (is_known_name(folded) and not is_clinical_name(stem(folded))):
            return prompt.say("nobody_called", name=word)
    return None


def what_next(prompt: Prompt) -> OfflineReply:
    """Return whose record is open, and ask what is wanted of it."""
    name = "no_patient_yet" if prompt.patient_id is None else "is_open"
    return prompt.say(name, who=prompt.who)


def said_first(prompt: Prompt, *told: str) -> OfflineReply:
    """Return the lines of a list that was asked for, behind what users said of it."""
    said = said_here(prompt)
    return OfflineReply(text="\n".join([*([said, ""] if said else []), *told]))

"""The requests for the user's own calendar, mail, contacts, tasks and documents: one table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from group_chat.offline.errands import Errand, Given, errand_in, run
from group_chat.offline.prompt import OfflineReply, Prompt
from services.language.clock import day_in
from services.language.in_english import in_english
from services.language.phrases import parts_in, says, without, words_for
from services.language.text_words import (
    mail_addresses_in,
    named_after,
    owner_in,
    phone_number_in,
    quoted_in,
    without_ways_to_reach,
)
from services.language.work import own_kind_in, points_only

SECRETARY_TOOL = "list_events"
_WHEN_CHARS = 32  # "Friday at 3"; what is longer has more in it than a time
_EXAMPLES = frozenset({"email", "calendar_event", "contact"})


def is_of_recent(prompt: Prompt) -> bool:
    """Whether the message does something to what of the user's own was found or used last."""
    is_deed = says(prompt.asked, "delete", "move", "done", "send", "reads", "orders")
    return is_deed and prompt.recent in _OF_KIND


def answer_as_secretary(prompt: Prompt) -> OfflineReply:
    """Do the errand that the table has for what is named, or for what was found last."""
    done = "task" if says(prompt.asked, "done") else None
    recent = prompt.recent if prompt.recent in _OF_KIND else "calendar_event"
    kind = own_kind_in(prompt.asked) or done or recent
    errand = errand_in(prompt, _OF_KIND[kind])
    if errand is None:
        return prompt.say("no_tool")
    if errand.given(prompt.asked) is None:
        example = prompt.text(f"example_{kind if kind in _EXAMPLES else 'task'}")
        return prompt.say("only_simple", example=example)
    # What is only pointed at was said before: no list helps.
    return run(prompt, replace(errand, looks_with=None) if points_only(prompt.asked) else errand)


def _days(text: str) -> dict[str, str]:
    day = day_in(without(text, "goal") if says(text, "move") else text)
    return {} if day is None else {"since": day, "until": day}


def _words(text: str) -> dict[str, str]:
    """Return the name of what is looked for: quoted, called so, or behind a word such as "from"."""
    named = (parts_in(text, "named") or {}).get("name")
    if quoted := quoted_in(text) or ([without(named, "day")] if named else []):
        return {"words": " ".join(quoted[0].rstrip(". ").split())}
    words = owner_in(text) or named_after(text, "about") or ""
    kept = [word for word in words.split() if word.casefold() not in words_for("idle_in_lists")]
    return {"words": " ".join(kept)} if kept else {}


def _words_and_days(text: str) -> Given:
    return _words(text) | _days(text)


def _goal_as(name: str) -> Callable[[str], Given | None]:
    def read(text: str) -> Given | None:
        goal = (parts_in(in_english(text), "goal") or {}).get("goal")
        return None if goal is None else {name: goal}

    return read


def _parts(kind: str, **names: str) -> Callable[[str], Given | None]:
    """Return what reads the parts of such a sentence, by the names that the tool has for them."""

    def read(text: str) -> Given | None:
        new = parts_in(text, kind)
        return None if new is None else {names[one]: new[one] for one in new if one in names}

    return read


def _new_event(text: str) -> Given | None:
    new = _parts("new_event", title="title", when="start")(text)
    return new if new and len(new.get("start", "")) <= _WHEN_CHARS else None


def _new_mail(text: str) -> Given | None:
    new, to = parts_in(text, "new_mail"), mail_addresses_in(text.partition(":")[0])
    return {"to": to, "title": new["subject"], "text": new["text"]} if new and to else None


def _new_contact(text: str) -> Given | None:
    named = (parts_in(text, "new_contact") or {}).get("name", "")
    name = without_ways_to_reach(named).strip(" ,;.")
    return {"name": name, **_reached_by(named)} if name else None


def _new_way_to_reach(text: str) -> Given | None:
    return _reached_by(in_english(text).rpartition(" to ")[2]) or None


def _reached_by(text: str) -> dict[str, Any]:
    found = {"email": next(iter(mail_addresses_in(text)), None), "phone": phone_number_in(text)}
    return {name: value for name, value in found.items() if value}


def _free(text: str) -> Given:
    return {"day": day_in(text) or "today", "minutes": 30}


_EVENTS, _TASKS = Errand("list_events", given=_days), Errand("list_tasks", given=_days)
_CONTACTS = Errand("search_contacts", given=_words)
_MAILS = Errand("search_mail", given=_words_and_days)
_DOCUMENTS = Errand("search_documents", given=_words_and_days)
_OF_KIND: Mapping[str, Sequence[Errand]] = {
    "calendar_event": (
        Errand("cancel_event", ("delete",), given=lambda _: {"event_id": ""}, looks_with=_EVENTS),
        Errand("move_event", ("move",), given=_goal_as("start"), looks_with=_EVENTS),
        Errand("find_free_time", ("free",), given=_free),
        Errand("create_event", ("add", "books_event"), given=_new_event),
        _EVENTS,
    ),
    "email": (
        Errand("draft_mail", ("new_message",), given=_new_mail),
        Errand("send_mail", ("send",)),
        Errand("draft_mail", ("writes_mail",), ("looks_for_mail",), given=_new_mail),
        Errand("draft_mail", ("draft",), ("reads",), given=_new_mail),
        Errand("read_mail", ("reads",), looks_with=_MAILS),
        _MAILS,
    ),
    "contact": (
        Errand("delete_contact", ("delete",), looks_with=_CONTACTS),
        Errand("change_contact", ("change",), given=_new_way_to_reach, looks_with=_CONTACTS),
        Errand("add_contact", ("new_contact",), given=_new_contact),
        _CONTACTS,
    ),
    "task": (
        Errand("delete_task", ("delete",), looks_with=_TASKS),
        Errand("add_task", ("new_task",), given=_parts("new_task", title="title", when="due")),
        Errand("complete_task", ("done",), looks_with=_TASKS),
        Errand("move_task", ("move",), given=_goal_as("due"), looks_with=_TASKS),
        _TASKS,
    ),
    "document": (
        Errand("delete_document", ("delete",), looks_with=_DOCUMENTS),
        Errand("read_own_document", ("reads",), looks_with=_DOCUMENTS),
        _DOCUMENTS,
    ),
}

"""Requests that one tool does: which, what it is given, and what is called first. Tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from group_chat.offline.prompt import OfflineReply, Prompt, ToolAnswer
from group_chat.offline.told import items_in, problem_of, told_deed, told_times
from services.language.addressing import without_address
from services.language.person_details import birth_date_in, full_name_in
from services.language.phrases import parts_in, says, without
from services.language.text_words import telling_words

Given: TypeAlias = Mapping[str, Any]
RECALL_TOOL, TIMES_TOOL = "recall", "available_slots"
_LOOK_FIRST = ("list or search them first", "use list_appointments first")
_QUERY_CHARS = 400
_KNOWN = frozenset({"nobody", "this_patient", "another_person", "several"})


def _nothing(_: str) -> Given | None:
    return {}


@dataclass(frozen=True, slots=True)
class Errand:
    """One kind of request.

    Attributes:
        tool: What does it.
        said: It has a phrase of one of these names; of any, where there are none.
        unless: It has no phrase of these.
        given: Reads what the tool is given; None where the request does not say all of it.
        asks: Our text that asks for it then.
        looks_with: What is done first where the tool does not know what is meant.
    """

    tool: str
    said: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    given: Callable[[str], Given | None] = _nothing
    asks: str = "not_understood"
    looks_with: "Errand | None" = None

    def fits(self, text: str) -> bool:
        """Whether `text` is such a request."""
        is_said = not self.said or says(text, *self.said)
        return is_said and not (self.unless and says(text, *self.unless))

    def is_for(self, prompt: Prompt) -> bool:
        """Whether the user's message is such a request, and the agent has the tool for it."""
        return prompt.tool(self.tool) is not None and self.fits(prompt.asked)


def errand_in(prompt: Prompt, errands: Sequence[Errand]) -> Errand | None:
    """Return the first of `errands` that the message is and that the agent has the tool for."""
    return next((one for one in errands if one.is_for(prompt)), None)


def run(prompt: Prompt, errand: Errand) -> OfflineReply:
    """Call its tool; look for what is meant where it does not know; tell what it gave."""
    given = errand.given(prompt.asked)
    if given is None:
        return prompt.say(errand.asks)
    if not prompt.answers:
        return prompt.call(errand.tool, **given)
    last, look = prompt.answers[-1], errand.looks_with
    looked = prompt.given_by(look.tool) if look is not None else []
    knows_not = any(one in last.error for one in _LOOK_FIRST)
    if look is not None and knows_not and not looked:
        return prompt.call(look.tool, **(look.given(prompt.asked) or {}))
    if look is not None and last.name == look.tool and items_in(last):
        return prompt.call(errand.tool, **given)
    told = [_TELLS.get(last.name, told_deed)(prompt, last)]
    if look is not None and knows_not and looked:
        told.append(told_deed(prompt, ToolAnswer(look.tool, looked[-1])))
    return OfflineReply(text="\n\n".join(told))


def _person(text: str) -> Given | None:
    name, born = full_name_in(text), birth_date_in(text)
    return None if name is None or born is None else {"name": name, "birth_date": born.isoformat()}


def _test(kind: str) -> Callable[[str], Given | None]:
    def read(text: str) -> Given | None:
        test = (parts_in(without_address(text), kind) or {}).get("test")
        return {"test": test} if test else None

    return read


def _recalled(text: str) -> Given:
    told = telling_words(without(without_address(text), "frame_of_recall"))
    return {"query": " ".join(told)[:_QUERY_CHARS] or text[:_QUERY_CHARS]}


RECALL = Errand(RECALL_TOOL, ("remember",), ("roster",), given=_recalled)
OF_PERSONS = (
    Errand("find_person", ("is_registered",), given=_person, asks="missing_to_look"),
    Errand("register_person", ("registers",), given=_person, asks="missing_of_person"),
)
OF_ORDERS = (
    Errand("withdraw_order_draft", ("withdraws_order",)),
    Errand(
        "order_drafts_of", ("asks_whether_drafted",), given=_test("asks_whether_drafted"),
        asks="which_test",
    ),
    Errand("draft_order", given=_test("orders_test"), asks="which_test"),
)  # fmt: skip


def _told_known(prompt: Prompt, answer: ToolAnswer) -> str:
    known = str(answer.data.get("registered"))
    return prompt.text(f"known_{known}" if known in _KNOWN else "missing_to_look")


def _told_standing(prompt: Prompt, answer: ToolAnswer) -> str:
    return str(answer.data.get("standing")) or told_deed(prompt, answer)


def _told_recalled(prompt: Prompt, answer: ToolAnswer) -> str:
    if answer.error:
        return problem_of(prompt, answer)
    rows = [_quoted(prompt, row) for row in answer.data.get("remarks", ())]
    if not rows:
        return prompt.text("nothing_said", count=answer.data.get("turns_searched", 0))
    return "\n".join([prompt.text("said_earlier"), *rows])


def _quoted(prompt: Prompt, row: Mapping[str, Any]) -> str:
    who = prompt.text("you") if row.get("speaker") == "user" else row.get("speaker", "")
    said = " ".join(str(row.get("said", "")).split())
    day = str(row.get("at", ""))[:10]
    return prompt.text("turn_of", turn=row.get("turn"), day=day, who=who, said=said)


_TELLS = {
    "find_person": _told_known,
    "order_drafts_of": _told_standing,
    RECALL_TOOL: _told_recalled,
    TIMES_TOOL: told_times,
}

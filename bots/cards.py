"""Adaptive Cards: the plan that waits for a yes, and questions with buttons (page 1.7, 1.8)."""

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.incoming_message import Press
from data_models.plan import Plan

Card: TypeAlias = dict[str, Any]

_LABELS = {
    "confirm": "Confirm",
    "change": "Change",
    "cancel": "Cancel",
    "yes": "Yes",
    "no": "No",
}
_YES_NO_KINDS = {"clear", "destructive_tool", "new_history"}


class _PressValue(BaseModel):
    """What a button of our cards sends."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)

    target_id: str = Field(min_length=1, max_length=200)
    answer: str = Field(min_length=1, max_length=200)


def plan_card(plan: Plan) -> Card:
    """Return the card of a proposed plan."""
    steps = [_text(f"{step.number}. {step.agent}: {step.text}") for step in plan.steps]
    buttons = [_button(plan.plan_id, answer) for answer in ("confirm", "change", "cancel")]
    return _card([_title("Proposed plan"), *steps], buttons)


def question_card(question: dict[str, str]) -> Card | None:
    """Return the card of an open question; None for one that a button cannot answer."""
    if question["kind"] not in _YES_NO_KINDS:
        return None
    buttons = [_button(question["id"], answer) for answer in ("yes", "no")]
    return _card([_title("Please answer"), _text(question["text"])], buttons)


def press_in(value: Any) -> Press | None:
    """Return the press of one of our buttons that `value` is, or None."""
    try:
        found = _PressValue.model_validate(value)
    except ValidationError:
        return None
    return Press(target_id=found.target_id, answer=found.answer)


def label_of(press: Press) -> str:
    """Return what the pressed button says."""
    return _LABELS.get(press.answer, press.answer)


def _card(body: list[Card], actions: list[Card]) -> Card:
    return {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "type": "AdaptiveCard",
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "version": "1.4",
            "body": body,
            "actions": actions,
        },
    }


def _button(target_id: str, answer: str) -> Card:
    data = {"target_id": target_id, "answer": answer}
    return {"type": "Action.Submit", "title": _LABELS[answer], "data": data}


def _title(text: str) -> Card:
    return {"type": "TextBlock", "text": text, "weight": "Bolder", "size": "Medium", "wrap": True}


def _text(text: str) -> Card:
    # Runs show their text as it is: no Markdown, so no links.
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]}

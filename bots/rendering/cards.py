"""Adaptive Cards: the plan, questions, the welcome, help where something failed, rows of the chart.

Rows are a line chart where the host draws one, else a table (spec page 6.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from pydantic import BaseModel, Field, ValidationError

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, Citation
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan, PlanStep
from data_models.patient_context_models import PatientIdentity
from services.language.sentences.statement_parts import numbered_marks
from services.statements.shown import cells, labels_of, left_out_of

Card: TypeAlias = dict[str, Any]

SAY_LIMIT_CHARS = 2_000
"""A button that repeats a longer text would not fit into a message with its card."""
_LABELS = {"confirm": "Confirm", "change": "Change", "cancel": "Cancel", "yes": "Yes", "no": "No"}
_STYLES = {"confirm": "positive", "cancel": "destructive"}
_YES_NO_KINDS = {
    "clear", "compare", "destructive_tool", "new_history", "retire_statement", "undo_clear",
}  # fmt: skip
_DESTRUCTIVE_KINDS = {"clear", "destructive_tool"}
_STEP_SIGNS = {
    "pending": ("○", "Default", "waits"),
    "running": ("▶", "Accent", "runs now"),
    "done": ("✓", "Good", "done"),
    "skipped": ("–", "Default", "left out"),
}
_PLAN_LINES = {
    "proposed": "Nothing runs before you confirm.",
    "cancelled": "Cancelled. Nothing more runs.",
    "replaced": "Replaced by a newer plan.",
    "done": "All steps are done.",
}


class _PressValue(BaseModel, strict=True, extra="ignore", hide_input_in_errors=True):
    """What a button of our cards sends."""

    target_id: str = Field(min_length=1, max_length=200)
    answer: str = Field(min_length=1, max_length=200)


class _SayValue(BaseModel, strict=True, extra="ignore", hide_input_in_errors=True):
    """What a button sends that stands for a message."""

    say: str = Field(min_length=1, max_length=SAY_LIMIT_CHARS)


def plan_card(plan: Plan, *, patient_id: str | None, patient: PatientIdentity | None) -> Card:
    """Return the card of a plan as it stands; one that waits for a yes has buttons."""
    who = patient_id if patient is None else f"{patient.label} ({patient_id})"
    about = f" for {who}" if patient_id else ""
    body = [
        _title(f"Plan{about}"),
        *(_step_row(step) for step in plan.steps),
        _hint(_plan_line(plan)),
    ]
    answers = ("confirm", "change", "cancel") if plan.status == "proposed" else ()
    return _card(body, [_press(plan.plan_id, answer) for answer in answers])


def question_card(question: dict[str, str], *, about: str = "") -> Card | None:
    """Return the card of an open question; None for one that a button cannot answer.

    Args:
        about: Both identifiers of the open patient, where there is one.
    """
    hint = [_hint(f"Open: {about}")] if about else []
    if question["kind"] in ("which_entity", "subject"):
        asked, *lines = question["text"].splitlines()
        buttons = [
            {**_press(question["id"], line.partition(".")[0]), "title": line.replace("*", "")}
            for line in lines
        ]
        none = {**_press(question["id"], "no"), "title": "None of these"}
        return _card([_title("Please answer"), _text_block(asked), *hint], [*buttons, none])
    if question["kind"] not in _YES_NO_KINDS:
        return None
    yes, no = (_press(question["id"], answer) for answer in ("yes", "no"))
    if question["kind"] in _DESTRUCTIVE_KINDS:
        yes["style"] = "destructive"
    return _card([_title("Please answer"), _text_block(question["text"]), *hint], [yes, no])


def welcome_card(greeting: str, examples: Sequence[str]) -> Card:
    """Return the card that greets; its buttons say the examples."""
    body = [_title("Rounds"), _text_block(greeting), _hint("For example:")]
    return _card(body, [say_button(example, example) for example in examples])


def help_card(hint: str, *, ref: str, again: Card | None) -> Card:
    """Return what stands under a failure: what to do, and by which name it is found in logs."""
    return _card([_text_block(hint), _hint(f"Reference: {ref}")], [again] if again else [])


def again_button(text: str, press: Press | None) -> Card | None:
    """Return a button that says once more what failed; None for what is too long for one."""
    if press is not None and (press.steps is not None or press.edits):
        return None
    if press is not None:
        return {**_press(press.target_id, press.answer), "title": "Try again"}
    return say_button("Try again", text) if 0 < len(text) <= SAY_LIMIT_CHARS else None


def undo_card(undo: dict[str, str]) -> Card:
    """Return the card under a clear: its button says the words that bring it back."""
    return _card([_hint("Cleared by mistake?")], [say_button("Undo", undo["say"])])


def say_button(title: str, text: str) -> Card:
    """Return a button that says `text` in the user's name.

    Without Teams' own `imBack`, which would show the text as typed: Agents Playground fails on it.
    """
    return {"type": "Action.Submit", "title": title, "data": {"say": text}}


def said_anew_card(hint: str, text: str) -> Card:
    """Return the card whose button says `text` in the user's name."""
    return _card([_hint(hint)], [say_button("Send the new words", text)])


def press_in(value: Any) -> Press | None:
    """Return the press of one of our buttons that `value` is, or None."""
    try:
        found = _PressValue.model_validate(value)
    except ValidationError:
        return None
    return Press(target_id=found.target_id, answer=found.answer)


def words_in(value: Any) -> str:
    """Return what one of our buttons says in the user's name; nothing for any other."""
    try:
        return _SayValue.model_validate(value).say
    except ValidationError:
        return ""


def label_of(press: Press) -> str:
    """Return what the pressed button says."""
    return _LABELS.get(press.answer, press.answer)


def _plan_line(plan: Plan) -> str:
    if plan.status != "running":
        return _PLAN_LINES[plan.status]
    chosen = [step for step in plan.steps if step.status != "skipped"]
    done = sum(step.status == "done" for step in chosen)
    return f"{done} of {len(chosen)} steps are done."


def _step_row(step: PlanStep) -> Card:
    sign, color, meaning = _STEP_SIGNS[step.status]
    line = [
        _run(f"{step.number}. "),
        _run(step.agent, weight="Bolder"),
        _run(f": {step.text}"),
        *([_run(f" ({meaning})", isSubtle=True)] if step.status != "pending" else []),
    ]
    return {
        "type": "ColumnSet",
        "spacing": "Small",
        "columns": [
            _column([{"type": "TextBlock", "text": sign, "color": color}], "auto"),
            _column([{"type": "RichTextBlock", "inlines": line}], "stretch"),
        ],
    }


def _column(items: list[Card], width: str) -> Card:
    return {"type": "Column", "width": width, "items": items}


def _press(target_id: str, answer: str) -> Card:
    data = {"target_id": target_id, "answer": answer}
    button = {"type": "Action.Submit", "title": _LABELS.get(answer, answer), "data": data}
    return {**button, "style": _STYLES[answer]} if answer in _STYLES else button


def _title(text: str) -> Card:
    return _text_block(text, weight="Bolder", size="Medium")


def _hint(text: str) -> Card:
    return _text_block(text, isSubtle=True)


def _text_block(text: str, **looks: Any) -> Card:
    """Return text as it is: runs know no Markdown, so no links."""
    return {"type": "RichTextBlock", "inlines": [_run(text, **looks)]}


def _run(text: str, **looks: Any) -> Card:
    return {"type": "TextRun", "text": text, **looks}


def _adaptive_card(body: list[Card], **more: Any) -> Card:
    """Return the attachment of a card; `more`: its actions, another version than 1.4."""
    return {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "type": "AdaptiveCard",
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "version": "1.4",
            "body": body,
            **more,
        },
    }


def _card(body: list[Card], actions: list[Card]) -> Card:
    return _adaptive_card(body, actions=actions)


# Sources as numbers in the text with a card each, in channels that know them (spec page 15).

CITATION_LIMIT = 10
"""Teams shows no more of one message."""
NAME_LIMIT_CHARS = 80
ABSTRACT_LIMIT_CHARS = 160


def numbered(text: str) -> str:
    """Return `text` with numbers for its sources; it reads the same whatever follows it."""
    return numbered_marks(text, most=CITATION_LIMIT)[0]


class Sources:
    """The sources of one message, numbered as its text names them, then those that it does not.

    Args:
        is_shown: Whether the channel knows them.
    """

    def __init__(self, *, message: AgentMessage, is_shown: bool) -> None:
        known = {one.ref: one for one in message.citations}
        named = numbered_marks(message.text, most=CITATION_LIMIT)[1]
        self._named = len(named)
        refs = dict.fromkeys((*named, *known)) if is_shown else {}
        self._numbered = {
            number: known[ref] for number, ref in enumerate(refs, start=1) if ref in known
        }

    def of(self, text: str, *, is_last: bool) -> Mapping[int, Citation]:
        """Return by number what a part of the message cites; its last one also what none names."""
        every = {
            number: one
            for number, one in self._numbered.items()
            if f"[{number}]" in text or (is_last and number > self._named)
        }
        return dict([*every.items()][:CITATION_LIMIT])


def sources_line(cited: Mapping[int, Citation]) -> str:
    """Return the line that ends a part; Microsoft's Playground opens no number within a list."""
    marks = "".join(f" [{number}]" for number in cited)
    return f"\n\nSources:{marks}" if marks else ""


def message_entity(cited: Mapping[int, Citation], *, by_model: bool) -> dict[str, Any]:
    """Return the entity that names a message's sources and, if a model wrote it, says so."""
    entity: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
    }
    if by_model:
        entity["additionalType"] = ["AIGeneratedContent"]
    if cited:
        entity["citation"] = [_claim(one, number) for number, one in cited.items()]
    return entity


def _claim(citation: Citation, position: int) -> dict[str, Any]:
    name = citation.title or citation.ref
    abstract = citation.quote or " ".join(filter(None, [citation.ref, citation.date]))
    return {
        "@type": "Claim",
        "position": position,
        "appearance": {
            "@type": "DigitalDocument",
            "name": name[:NAME_LIMIT_CHARS],
            "abstract": abstract[:ABSTRACT_LIMIT_CHARS],
        },
    }


ROWS_SHOWN = 25
CARD_LIMIT_BYTES = 18_000
"""Teams takes about 28 kB a message; a table counts with all that stands around its texts."""
_LEAST_POINTS = 2
_WIDTHS = {"date": 2, "end": 2, "name": 3, "value": 2, "detail": 4}
_COLUMN_NAMES = {"end": "Until", "detail": "More"}


def view_cards(view: ChartView) -> list[Card]:
    """Return the cards of one view: the first 25 rows, and all of a view that must be shown."""
    columns, texts = cells(view)
    if not columns:
        return []
    plain = [_COLUMN_NAMES.get(one, one.capitalize()) for one in columns]
    names = labels_of(view, columns) if view.labels else plain
    pages = list(_pages(texts))
    shown = pages if view.must_be_shown else pages[:1]
    left = len(texts) - sum(map(len, shown))
    cards = []
    for number, page in enumerate(shown, start=1):
        title = view.title if number == 1 else f"{view.title} ({number} of {len(shown)})"
        drawn = _chart(view, _table(columns, names, page)) if number == 1 else None
        is_last = number == len(shown)
        remarks = [f"{left} more rows"] if is_last and left else []
        remarks += [*left_out_of(view), *view.notes] if is_last else []
        body = [_text_block(title, weight="Bolder"), drawn or _table(columns, names, page)]
        body += [_text_block(one, isSubtle=True) for one in remarks]
        cards.append(_adaptive_card(body, version="1.5", msteams={"width": "Full"}))
    return cards


def _pages(texts: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    page: list[Sequence[str]] = []
    size = 0
    for row in texts:
        own = len(orjson.dumps(_row(row)))
        if page and (len(page) == ROWS_SHOWN or size + own > CARD_LIMIT_BYTES):
            yield page
            page, size = [], 0
        page.append(row)
        size += own
    if page:
        yield page


def _table(columns: Sequence[str], names: Sequence[str], texts: Sequence[Sequence[str]]) -> Card:
    return {
        "type": "Table",
        "firstRowAsHeader": True,
        "columns": [{"width": _WIDTHS.get(name, 1)} for name in columns],
        "rows": [_row(names, weight="Bolder"), *(_row(row) for row in texts)],
    }


def _row(texts: Sequence[str], **looks: str) -> Card:
    cells_ = [{"type": "TableCell", "items": [_text_block(text or " ", **looks)]} for text in texts]
    return {"type": "TableRow", "cells": cells_}


def _chart(view: ChartView, table: Card) -> Card | None:
    """Return the line chart of a course, which falls back to its table; None where it is none."""
    if view.kind != "series":
        return None
    drawn: dict[tuple[str, str], list[ViewRow]] = {}
    for row in sorted(view.rows, key=lambda one: one.date):
        if row.number is not None and len(row.date) >= len("2024-01-01"):
            drawn.setdefault((row.name, row.unit), []).append(row)
    # Two units have no common axis.
    has_course = any(len(rows) >= _LEAST_POINTS for rows in drawn.values())
    if len({unit for _, unit in drawn}) != 1 or not has_course:
        return None
    ((_, unit), *_) = drawn
    return {
        "type": "Chart.Line",
        "title": view.title,
        "xAxisTitle": "Date",
        "yAxisTitle": unit,
        "data": [
            {"legend": name, "values": [{"x": row.date[:10], "y": row.number} for row in rows]}
            for (name, _), rows in drawn.items()
        ],
        "fallback": table,
    }

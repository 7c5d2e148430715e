"""One patient's conversation as a Word document."""

import io
import re
from collections.abc import Mapping
from types import MappingProxyType

from docx import Document
from docx.document import Document as DocumentObject
from docx.text.paragraph import Paragraph

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Turn
from data_models.patient_identity import PatientIdentity
from services.statements.shown import cells, maker_label, not_supported, views_of

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_BULLET = re.compile(r"^\s*[-*•]\s+")
_HEADING = re.compile(r"^#{1,6}\s+")
_RULE = re.compile(r"^[\s|:-]+$")
# XML 1.0 has no way to write these.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_word(
    turns: list[Turn],
    views: Mapping[str, ChartView] = MappingProxyType({}),
    *,
    patient_id: str | None,
    patient: PatientIdentity | None = None,
) -> bytes:
    """Return the turns as a `.docx` for people; model text is text, never fields or links.

    Who the patient is stands in the header of each page.
    """
    document = Document()
    title = f"Conversation about {patient_id}" if patient_id else "Conversation"
    document.core_properties.title = title
    document.core_properties.author = "Rounds"
    document.add_heading(title, level=0)
    if patient is not None:
        who = _writable(f"{patient.label} ({patient_id})")
        document.sections[0].header.paragraphs[0].text = who
        document.add_paragraph().add_run(who).bold = True
    for turn in turns:
        _add_turn(document, turn, views)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


def _add_turn(document: DocumentObject, turn: Turn, views: Mapping[str, ChartView]) -> None:
    asked = f"{turn.timestamp:%Y-%m-%d %H:%M} UTC · {turn.user or 'User'}"
    document.add_heading(_writable(asked), level=1)
    document.add_paragraph(_writable(turn.user_message), style="Intense Quote")
    for message in turn.agent_responses:
        _add_answer(document, message, views)
    if turn.turn_status in ("FAILED", "STOPPED"):
        text = f"This turn ended early: {turn.turn_status.lower()}."
        document.add_paragraph().add_run(text).italic = True


def _add_answer(
    document: DocumentObject, message: AgentMessage, views: Mapping[str, ChartView]
) -> None:
    document.add_heading(_writable(message.agent), level=2)
    if label := maker_label(message):
        document.add_paragraph().add_run(label).italic = True
    for line in _writable(message.text).splitlines():
        if line.strip() and not _RULE.match(line):
            _add_line(document, line)
    for view in views_of(message, views):
        _add_view(document, view)
    for line in not_supported(message).splitlines():
        _add_line(document, _writable(line))
    for one in message.citations:
        name = _writable(f"{one.title or one.ref} ({one.ref})")
        document.add_paragraph(name, style="List Bullet 2")


def _add_view(document: DocumentObject, view: ChartView) -> None:
    columns, rows = cells(view)
    document.add_paragraph().add_run(_writable(view.title)).bold = True
    table = document.add_table(rows=0, cols=max(len(columns), 1), style="Table Grid")
    for texts in (columns, *rows):
        for cell, text in zip(table.add_row().cells, texts, strict=False):
            cell.text = _writable(text)
    left = [f"Not shown: {one.count} {one.what}" for one in view.left_out]
    for line in (*left, *view.notes):
        document.add_paragraph(_writable(line))


def _add_line(document: DocumentObject, line: str) -> None:
    if _HEADING.match(line):
        document.add_paragraph().add_run(_HEADING.sub("", line)).bold = True
    elif _BULLET.match(line):
        _add_words(document.add_paragraph(style="List Bullet"), _BULLET.sub("", line))
    else:
        _add_words(document.add_paragraph(), line)


def _add_words(paragraph: Paragraph, text: str) -> None:
    for number, part in enumerate(_BOLD.split(text)):
        # The pattern's group stands at every odd place.
        paragraph.add_run(part).bold = number % 2 == 1


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("", text)

"""Who the patient is: what of the summary's first rows a question asks for. Pure."""

from collections.abc import Sequence

from data_models.chart_view import ViewRow
from services.language.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.ages import aged_in
from services.records.answers.asked_rows import personal_facts
from services.records.answers.row_line import row_line
from services.records.answers.row_parts import sources_of


def told_identity(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Answer who the patient is from the first row of the summary."""
    row = next((each for each in rows if each.kind == "patient"), None)
    if row is None:
        return words.nothing
    source, name, span = sources_of(row), question.name, question.span
    match name:
        case _ if facts := personal_facts(name, rows):
            return "\n".join(row_line(fact, words) for fact in facts)
        case "birth date" if row.date:
            return f"{words.born.format(date=row.date)} {source}"
        case "vital status":
            said = words.died.format(value=row.status) if row.status else words.alive
            return f"{said} {source}"
        case "age" if span is not None and (then := aged_in(span, row, words)):
            return then
        case "age" | "sex":
            told = ", ".join(words.word(part) for part in row.value.split(", "))
            born = words.born.format(date=row.date) if row.date else row.detail.partition("; ")[0]
            return f"**{row.name}**: {told}, {born} {source}"
        case "name" | "identifiers":
            return f"**{row.name}**; {row.detail} {source}"
        case _:
            return words.absent.format(name=name)

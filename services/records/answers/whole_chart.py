"""The chart on one screen: who it is of, then a list for each kind of entry. Pure."""

from collections.abc import Iterator, Sequence

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords, answer_words
from services.language.utterance import ChartQuestion
from services.language.words.vocabulary import drug_names
from services.records.answers.ages import aged_in
from services.records.answers.choosing import asked_rows
from services.records.answers.choosing.row_line import bullets_of, row_line
from services.records.answers.choosing.row_parts import sources_of
from services.records.answers.choosing.said_words import has_words
from services.records.concepts.table import concept_table, names_of_less, words_listed
from services.records.concepts.words import words_of
from services.records.resources.record import INCOMPLETE
from services.records.resources.standing import DOUBTFUL, FUTURE

_LISTS = {
    "allergies": ("allergy", "no known allergy"),
    "problems": ("problem", "encounter diagnosis"),
    "medications": ("medication",),
    "results": (),
    "encounters": ("encounter", "appointment"),
}
"""What is listed, in this order, and the kinds of its rows; results are what nothing else is."""
_DEATH = "death"


def told_summary(view: ChartView, rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return `rows` under a heading for each kind; that a kind is empty is said, too.

    Address, numbers and the like are left out: they are asked for by name.
    """
    named = {kind for kinds in _LISTS.values() for kind in kinds}
    who = [row for row in rows if row.kind == "patient" or row.name == _DEATH]
    parts = ["\n".join(row_line(row, words) for row in who)]
    for tool, kinds in _LISTS.items():
        listed = [
            row
            for row in rows
            if (row.kind in kinds if kinds else row.kind not in {*named, "patient", "personal"})
        ]
        said = [row_line(row, words) for row in listed] or [empty_list(tool, words)]
        if any(said):
            title = words.things_of[tool]
            parts.append("\n- ".join([f"**{title[:1].upper()}{title[1:]}**", *said]))
    parts.append("\n".join(f"- {note}" for note in notes_on(view, words)))
    return "\n\n".join(filter(None, parts))


def _told_briefly(rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return three lines: who it is, what is wrong, what is taken and what must not be."""

    def line(tool: str) -> str:
        listed = [row for row in rows if row.kind in _LISTS[tool]]
        states = ["" if row.status == "active" else words.word(row.status) for row in listed]
        parts = [(one.name, one.value, state) for one, state in zip(listed, states, strict=True)]
        told = [", ".join(filter(None, one)) for one in parts]
        said = [f"{one} {sources_of(row)}" for one, row in zip(told, listed, strict=True)]
        title = words.things_of[tool]
        return f"**{title[:1].upper()}{title[1:]}**: {'; '.join(said) or empty_list(tool, words)}"

    who = [row_line(row, words) for row in rows if row.kind == "patient" or row.name == _DEATH]
    return "\n".join([*who, line("problems"), f"{line('medications')} | {line('allergies')}"])


def empty_list(tool: str, words: AnswerWords) -> str:
    """Return what an empty list means; that no allergy is recorded is no statement of none."""
    empty = {
        "allergies": words.say("no_allergies"),
        "problems": words.say("no_problems"),
        "medications": words.say("no_drugs"),
    }
    return empty.get(tool, "")


def told_list(view: ChartView, title: str, words: AnswerWords) -> str:
    """Return the rows of a view that hold something under `title`, and its notes; "" for none."""
    rows = bullets_of(view, words)
    notes = [f"*{one[:1].upper()}{one[1:].rstrip('.')}.*" for one in notes_on(view, words)]
    return "\n".join([f"**{title}**", *rows, *(["", *notes] if notes else [])]) if rows else ""


def notes_on(view: ChartView, words: AnswerWords) -> Iterator[str]:
    """Yield what the chart holds besides; in any language how much, and that it is incomplete."""
    told = {empty_list(tool, words) for tool in _LISTS}
    is_own = words.is_language_of_tools
    yield from (one for one in view.notes if one not in told and (is_own or INCOMPLETE in one))
    if is_own:
        yield from (f"{left.count} {left.what} are not shown" for left in view.left_out)
    elif more := sum(left.count for left in view.left_out):
        yield words.say("older", count=more)


def in_own_words(view: ChartView, language: str) -> ChartView:
    """Return a view with what stands over, under and beside its rows in this language."""
    words = answer_words(language)
    if words.is_language_of_tools or view.labels:
        return view
    own = {text: words.said[name] for name, text in answer_words("en").said.items()}
    left = [one.model_copy(update={"what": words.in_words(one.what)}) for one in view.left_out]
    return view.model_copy(
        update={
            "title": _title_in(view, words),
            "labels": tuple(map(words.word, view.columns)),
            "nothing": own.get(view.nothing, words.word(view.nothing)),
            "notes": tuple(own.get(one, words.in_words(words.word(one))) for one in view.notes),
            "left_out": tuple(left),
        }
    )


def _title_in(view: ChartView, words: AnswerWords) -> str:
    title, plain = view.title, view.title.casefold()
    if plain == view.tool and (named := words.things_of.get(view.tool)):
        return named
    called = words.called(plain)
    return words.in_words(title) if called == plain else called


def part_in_own_words(view: ChartView, language: str) -> ChartView:
    """Return a part of the chart as a page in this language shows it, names as recorded."""
    words = answer_words(language)
    if words.is_language_of_tools:
        return view
    rows = [
        row.model_copy(
            update={"status": words.word(row.status), "detail": words.in_words(row.detail)}
        )
        for row in view.rows
    ]
    return in_own_words(view, language).model_copy(update={"rows": tuple(rows)})


def is_another(row: ViewRow, name: str) -> bool:
    """Whether an illness has words of `name` and is not it: pulmonary hypertension; COPD is less.

    That of an illness which nobody here knows is told as it is.
    """
    if name in names_of_less():
        return not has_words(row, name)
    table = concept_table()
    asked, own = table.named("problem", name), asked_rows.concept_of("problem", row)
    if not own or asked is None:
        return False
    return own not in {asked.name, *(leaf.name for leaf in table.leaves(asked))}


def told_identity(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Answer who the patient is from the first row of the summary."""
    row = next((each for each in rows if each.kind == "patient"), None)
    if row is None:
        return words.say("nothing")
    source, name, span = sources_of(row), question.name, question.span
    match name:
        case _ if facts := asked_rows.personal_facts(name, rows):
            return "\n".join(row_line(fact, words) for fact in facts)
        case "birth date" if row.date:
            return f"{words.say('born', date=row.date)} {source}"
        case "vital status":
            said = words.say("died", value=row.status) if row.status else words.say("alive")
            return f"{said} {source}"
        case "age" if span is not None and (then := aged_in(span, row, words)):
            return then
        case "age" | "sex":
            told = ", ".join(words.word(part) for part in row.value.split(", "))
            born = words.say("born", date=row.date) if row.date else row.detail.partition("; ")[0]
            return f"**{row.name}**: {told}, {born} {source}"
        case "name" | "identifiers":
            return f"**{row.name}**; {words.in_words(row.detail)} {source}"
        case _:
            return words.not_there(words.called(name))


def told_whole(
    question: ChartQuestion, view: ChartView, rows: Sequence[ViewRow], words: AnswerWords
) -> str | None:
    """Return who the patient is, the summary or what it lacks; None where neither is asked for."""
    if (question.tool, question.name) == ("current_status", asked_rows.MISSING):
        return _told_missing(rows, words)
    if question.tool != "chart_summary":
        return None
    of_person = bool(question.name) and told_identity(question, view.rows, words)
    if question.most and not question.name:
        return _told_briefly(rows, words)
    return of_person or told_summary(view, rows, words)


def _told_missing(rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return what a board asks for first and the record has not, and where its sources differ."""
    differing = [row for row in rows if row.status == "sources differ"]
    names = "; ".join(dict.fromkeys(words.called(one.name) for one in rows if one not in differing))
    told = words.not_there(names) if names else words.say("none_missing")
    state = words.word("sources differ")
    each = (f"- **{one.name}**: {state}: {words.in_words(one.detail)}" for one in differing)
    return "\n".join([told, *each])


def is_doubtful(row: ViewRow) -> bool:
    """Whether it is not certain that a row is so: suspected, unconfirmed, ended and yet active."""
    is_torn = row.kind in asked_rows.DIAGNOSES and row.status == "active" and bool(row.end)
    return is_torn or row.status == FUTURE or bool(DOUBTFUL & {*row.detail.split("; ")})


def is_near_only(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether a row tells of less than an illness: of a trait, of a risk, of who is suspected.

    Or of another brand of what is asked by its brand: Kyleena is no Mirena.
    """
    name, told = question.name, {*words_of(row.name)}
    if question.said in drug_names().get(name, ()):
        return told.isdisjoint(words_of(f"{name} {question.said}"))
    said = words_listed("near_only").intersection(told) - {*words_of(name)}
    return row.kind in asked_rows.DIAGNOSES and bool(said)

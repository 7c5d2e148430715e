"""Where to look next for what the list of its kind does not hold, and what is told of it. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.charts.tools_named import OF_ALL, SEARCH, WORKED_OUT
from services.language.utterance import Aspect, ChartQuestion
from services.language.words.vocabulary import concept_rows
from services.records.answers import values_instead
from services.records.answers.choosing.asked_rows import (
    DIAGNOSES,
    VISITS_OF_STATE,
    asked_rows,
    concept_of,
    has_answer,
    partly_named,
)
from services.records.answers.choosing.excluded_rows import was_never
from services.records.answers.choosing.imaged import IMAGING
from services.records.answers.choosing.row_parts import part_missing
from services.records.answers.choosing.unsaid import said_without
from services.records.answers.sentences import OVER, answer_of
from services.records.answers.values_instead import searched
from services.records.concepts.table import concept_table, parts_of_body
from services.records.concepts.words import words_of
from services.records.rows.finding import means
from services.records.rows.measurements import MEASURED

_TOLD_IN_NOTES = frozenset({"planned care", "care plan"})  # by the last where no entry does
_OF_CARE_ALONE = frozenset({"", "goal", "order", "overdue order"})
"""Parts of `care` whose words, as "plan", stand in any note."""

_BESIDE = {
    "problems": frozenset({"immunization"}),
    "immunizations": frozenset({"problem", "encounter diagnosis"}),
}
_TOLD_ALONE = (("medications", "problems"), ("imaging_reports", "results"))
_TESTS = MEASURED | {"procedure"}
_OF_THEIR_KIND = frozenset({"allergies", "imaging_reports", "pathology_reports"})
"""Lists of what is nowhere else: an entry on the neck is no image of it."""


def _of_the_head(question: ChartQuestion) -> ChartQuestion:
    """Return the question for the thing itself: of "blood pressure in pregnancy" the pressure."""
    head = question.head
    named = {"names": [head]} if question.tool == "results" else {"name": head}
    is_listed = question.tool in {"problems", "care", "encounters", "history"}  # it gives all
    arguments = question.arguments if is_listed else {**question.arguments, **named}
    is_all = question.aspect in ("whether", "count") and not is_given_for(question)
    aspect = "all" if is_all else question.aspect
    return replace(question, name=question.head, head="", arguments=arguments, aspect=aspect)


def is_given_for(question: ChartQuestion) -> bool:
    """Whether it is asked if a drug is taken for an illness: "is she on metformin for PCOS?"."""
    return (question.tool, question.aspect, question.part) == ("medications", "whether", "reason")


def searches_for(question: ChartQuestion) -> Sequence[ChartQuestion]:
    """Return where to look next, in this order, where its tool holds nothing of a question."""
    is_limited = question.without or question.by
    is_typed = question.said not in ("", question.name)
    if question.tool == SEARCH and question.name and is_typed and not is_limited:
        return (searched(question, question.said, question.said),)
    if question.tool == SEARCH or is_limited or _is_nowhere_else(question):
        return ()
    if (found := _of_its_tool(question)) is not None:
        return found
    if question.tool == "immunizations" and not question.name:
        return (searched(question, "vaccination", "vaccination"),)
    if not question.name or len(question.arguments.get("names", ())) > 1:
        return ()
    if question.head:
        return _beside_the_head(question)
    is_done = question.tool == "procedures"  # of which a report tells more: an x-ray
    measured = values_instead.measured_for(question) if is_done else None
    taken = _taken(question) or measured
    said = concept_rows()["also_said"].get(question.name)
    query, name = (said, "") if said is not None else (question.name, question.name)
    typed = [searched(question, question.said, question.said)] if is_typed and not said else []
    group = concept_table().named("result", question.name) if question.tool == "results" else None
    leaves = concept_table().leaves(group) if group else ()
    typed += [searched(question, one.name, one.name) for one in leaves if len(leaves) in (2, 3)]
    reported = [replace(question, tool="documents", arguments={})] if is_done else []
    found = [*reported, *([taken] if taken else []), searched(question, query, name), *typed]
    is_of_days = question.span is not None and question.tool in _BESIDE  # lists of all days
    return (*found, *(replace(one, span=None) for one in found if is_of_days))


def _beside_the_head(question: ChartQuestion) -> Sequence[ChartQuestion]:
    """Return where to look for a longer name, and for the thing itself that it is of."""
    headless = searches_for(replace(question, head=""))
    head = _of_the_head(question)
    # What no list has may stand in a flag or a note without the rest.
    rest = [*headless, *(one for one in searches_for(head) if one not in headless)]
    match question.tool:
        # A value, or a drug, tells more than where it is mentioned.
        case "results":  # "evaluation of fundal height" was done
            done = replace(question, tool="procedures", arguments={"name": question.name}, head="")
            return (done, head, *rest)
        case "medications" if question.aspect == "whether":
            return (head, *rest)
        case "procedures" if question.head == "operation":
            part = question.name.removesuffix(question.head).strip()
            told = searched(replace(question, head=""), part, part)
            return (*headless, *([] if any(map(parts_of_body, part.split())) else [head]), told)
        case "medications":  # "Which painkillers did he get for the fracture?"
            name = question.name.removeprefix(question.head).strip()
            ill = replace(question, tool="problems", arguments=OF_ALL, name=name, head="")
            return (replace(ill, aspect="all", part="treatment"), head, *rest)
        case _:
            return (*headless, head, *rest[len(headless) :])


def _of_its_tool(question: ChartQuestion) -> Sequence[ChartQuestion] | None:
    """Return where else one tool's questions are looked up; None where as any other's."""
    if (question.tool, question.name) == ("chart_summary", "contact person"):
        kin = replace(question, tool="care", arguments={}, aspect="all", part=None)
        return (kin, *searches_for(kin))
    match question.tool:
        case "results" if question.span is not None and question.name:
            names = {"names": question.arguments["names"]}
            newest = replace(question, arguments=names, aspect="latest", span=None)
            newest = replace(newest, near=question.span)
            then = [_of_the_head(question)] if question.head else []
            then.append(searched(question, question.name, question.name))  # notes of those days
            return (*then, replace(newest, above=None, below=None), *searches_for(newest))
        case "imaging_reports" | "pathology_reports":
            return values_instead.done_without_report(question)
        case "problems" if not question.name and question.span is None:
            is_whole = question.arguments.get("status", "active") != "active"
            every = replace(question, arguments={"status": "all"}, aspect="all")
            return () if is_whole else (every,)
        case "encounters":
            return _of_visits(question)
        case "care":
            return _of_care(question)
        case _:
            return None


def _of_visits(question: ChartQuestion) -> Sequence[ChartQuestion] | None:
    """Return where else visits are looked up: notes tell of some that nobody recorded as such."""
    if question.name and question.part == "people":  # who was seen when it was found
        ill = replace(question, tool="problems", arguments=OF_ALL)
        return (ill, searched(question, question.name, question.name))
    if question.part == "reason" and not question.name:  # "why is he here?"
        return (_last_note(question),)
    aspect: Aspect = question.aspect if question.aspect in ("latest", "first") else "all"
    noted = (replace(question, tool="documents", arguments={}, aspect=aspect),)
    return noted if not question.name else None


def _of_care(question: ChartQuestion) -> Sequence[ChartQuestion] | None:
    """Return where else care is looked up: who sees the patient, and what the notes tell."""
    if question.name == "care team":
        seen = replace(question, tool="encounters", aspect="all", name="", part="people")
        return (seen, replace(seen, tool="documents"))
    if question.name in _TOLD_IN_NOTES:
        return (_last_note(question),)
    if question.head == "care plan":  # of what is planned for one thing the notes on it tell
        rest = question.name.removeprefix(question.head).strip()
        noted = searched(replace(question, head=""), rest, rest)
        return (noted, _of_the_head(question), _last_note(question))
    if question.part == "people" and question.name not in concept_rows()["also_said"]:
        return (replace(question, tool="documents"),)  # who signed the notes
    return None


def _last_note(question: ChartQuestion) -> ChartQuestion:
    return ChartQuestion("documents", {"kind": "note"}, "latest", span=question.span)


def _is_nowhere_else(question: ChartQuestion) -> bool:
    """Whether what speaks of the words elsewhere is another thing."""
    if question.tool == "care":
        return question.name in _OF_CARE_ALONE
    if question.tool == "encounters" and question.name in VISITS_OF_STATE:
        return True
    if question.tool != "medications" or question.is_begun:
        return question.is_begun  # an order of those days is no beginning
    table = concept_table()  # values are no drugs: "cholesterol meds?"
    is_value = table.named("result", question.name) is not None
    return is_value and table.named("drug", question.name) is None


def _taken(question: ChartQuestion) -> ChartQuestion | None:
    """Return the question for what was not measured and may be taken: iron, vitamin D."""
    if question.tool != "results" or concept_table().named("drug", question.name) is None:
        return None
    arguments = {"name": question.name, "status": "all"}
    return replace(question, tool="medications", arguments=arguments, aspect="all")


def told_elsewhere(
    question: ChartQuestion, search: ChartQuestion, found: ChartView, words: AnswerWords
) -> str:
    """Return what a search over everything found; "" for nothing."""
    if question.tool == "results" and search.name == question.said != question.name:
        return ""  # a value alone may be called so: of housing no house dust tells
    rows = tuple(row for row in found.rows if _may_tell(question, row, words))
    found = found.model_copy(update={"rows": rows})
    return answer_of(search, found, words) if asked_rows(search, found).rows else ""


def _may_tell(question: ChartQuestion, row: ViewRow, words: AnswerWords) -> bool:
    match question.tool:
        case "results" if question.span is not None and row.kind == "problem":
            return False  # an illness that goes on is no value of those days
        case "results":  # hemoglobin A1c is no hemoglobin
            table = concept_table()
            asked = table.named("result", question.name)
            own = concept_of("result", row) if row.number is not None else ""
            if asked is None or not own:
                return True
            return own in (asked.name, *(leaf.name for leaf in table.leaves(asked)))
        case "medications" if row.kind in MEASURED:  # "nitro" is no nitrogen, insulin its level
            return {*words_of(question.said or question.name)} <= {*words_of(row.name)}
        case "procedures":  # of one on the femur none that was called off tells
            return question.head != "operation" or row.kind != "procedure" or not was_never(row)
        case "allergies":  # a scan with contrast tells of no allergy to it
            said = f"{row.name} {row.value} {row.detail}".casefold()
            return any(mark in said for mark in words.allergic)
        case "current_status":  # of end-stage renal disease no tumour has the stage
            is_tumour = means("problem", "cancer", label=row.name, codes=row.code)
            return row.kind != "procedure" and (is_tumour or row.kind not in DIAGNOSES)
        case tool:  # a vaccination against it tells of no illness, nor the reverse
            return row.kind not in _BESIDE.get(tool, ())


def _lead_of(
    question: ChartQuestion,
    search: ChartQuestion,
    absent: str,
    found: ChartView,
    words: AnswerWords,
) -> str:
    """Return what stands before what `search` `found`: where it is, or that it may be of it."""
    if search.head == IMAGING:
        is_part = len(question.name.split()) > 1  # of the brain: one of the head
        return f"{absent} {words.say('perhaps') if is_part else words.say('elsewhere')}"
    is_guess = question.tool in _OF_THEIR_KIND or not search.name or question.head == "operation"
    is_drug = concept_table().named("drug", question.name) is not None
    is_drug |= any(row.kind == "medication" for row in found.rows)
    is_other = is_drug if question.tool == "results" else not is_drug
    if question.tool == "results" and question.aspect in WORKED_OUT:
        return words.say("not_worked_out")
    is_other &= question.tool in ("medications", "results")
    rows = asked_rows(search, found).rows
    # A test for antibodies is no vaccination.
    is_other |= question.tool == "immunizations" and {r.kind for r in rows} <= _TESTS
    is_other |= bool(question.month) and absent.startswith(words.not_then(question.name))
    if is_other or question.head == "inpatient admission":
        # A plan for it is no drug and no stay, and that it is taken is no value of it.
        end = "\n" if "\n" in absent else " "
        return f"{absent}{end}{words.say('elsewhere')}"
    if question.aspect == "whether" and all(map(was_never, rows)):
        return f"{words.say('no')}:"
    # Else it is in the record, though not in that list.
    return f"{absent} {words.say('perhaps')}" if is_guess else words.say("elsewhere")


def led(
    question: ChartQuestion,
    search: ChartQuestion,
    taken: ChartView,
    absent: str,
    told: str,
    record: ChartView,
    words: AnswerWords,
) -> str:
    """Return what was found elsewhere, behind what says that, and what it is not."""
    if (question.tool, search.tool) in _TOLD_ALONE:
        return told  # what it is treated with, and how large it was
    if question.head and search.name == question.head:
        if is_given_for(search):
            is_over = all(row.status in OVER for row in asked_rows(search, record).rows)
            if words.say("no_part", part=words.parts["reason"]) in told and not is_over:
                return told  # what is over and gone may have been for anything
            told = answer_of(replace(search, aspect="all"), record, words)
        is_of_all_days = question.span is not None and search.span is None
        when = f"{absent}\n" if is_of_all_days else ""
        return f"{when}{said_without(question, told, words)}\n{told}".strip()
    if search.tool == question.tool:  # of other days, or as it was typed
        return told if search.tool == SEARCH else f"{absent}\n{told}"
    if question.span is not None and search.span is None:  # its own list may have it of other days
        lead = words.not_then(question.name)
        return absent if absent.startswith(lead) else f"{lead}\n{words.say('elsewhere')}\n{told}"
    lead = _lead_of(question, search, absent, record, words)
    rows = asked_rows(search, record).rows if question.tool == "results" else ()
    untold = part_missing(replace(question, part="result"), rows, words) if rows else []
    told = "\n".join([told, *untold])
    return f"{_not_listed(question, taken, words)}{lead}\n{told}"


def with_parts(
    question: ChartQuestion, absent: str, looked_at: ChartView, words: AnswerWords
) -> str:
    """Add what speaks of part of a longer name to what says that it is not there."""
    is_other = question.tool in ("allergies", "history")  # no diabetes but the mother's
    rows = () if is_other else partly_named(question.name, looked_at.rows)
    if not rows or has_answer(question, looked_at):
        return absent
    search = replace(searched(question, question.name, ""), span=None)
    view = looked_at.model_copy(update={"rows": rows})
    return f"{absent} {words.say('perhaps')}\n{answer_of(search, view, words)}"


def _not_listed(question: ChartQuestion, view: ChartView, words: AnswerWords) -> str:
    """Say that no illness has the name, and which ones have it in theirs: prediabetes."""
    if question.tool != "problems" or not question.name or question.span is not None:
        return ""
    near = [row for row in view.rows if question.name.casefold() in row.name.casefold()]
    told = answer_of(
        replace(question, name="", aspect="all"), view.model_copy(update={"rows": near}), words
    )
    said = words.say("not_listed", name=words.called(question.name, question.said))
    return f"{said}\n{told}\n" if near else f"{said} "

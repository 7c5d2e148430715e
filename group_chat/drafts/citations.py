"""What a draft stands on: the sources that it names, items of a user's own, what was said before.

Times, days, addresses and numbers of a user's own things are no rows of a chart, and what is made
for them is what they said: nothing else tells an invented one from theirs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any

from data_models.chat_context import Citation
from group_chat.turn_context import TurnContext
from services.assistant.undo_log import ABOUT_ANOTHER
from services.language.charts.answer_words import answer_words
from services.language.requests.clock import part_of_day_in
from services.language.requests.work import BEYOND_US, impossible_wish
from services.language.sentences.statements import read_sentence
from services.language.words.folding import fold, words_of
from services.language.words.own_texts import in_own_language, problem_told
from services.language.words.phrases import says, words_for
from services.language.words.talk_texts import day_text, has_text, talk_text
from services.language.words.text_words import addresses_in, asks_question, figures_said
from services.memory_blocks.limits import one_line
from services.records.answers.choosing.row_line import DIFFER
from services.statements.deeds import proven_by
from services.tool_memory.session import FinishedRun

TITLE_LIMIT_CHARS = 80
QUOTE_LIMIT_CHARS = 160
MESSAGE_LIMIT = 40

_REF = re.compile(r"\b[A-Z][A-Za-z]{2,40}/[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


def citations_in(text: str, sources: Mapping[str, Citation]) -> list[Citation]:
    """Return the citations of the source ids in `text`, in order, each once, at most 40.

    An id that no tool gave is no citation: the model may have made it up.
    """
    refs = dict.fromkeys(found.rstrip(".-") for found in _REF.findall(text))
    return [sources[ref] for ref in refs if ref in sources][:MESSAGE_LIMIT]


def remember_rows(sources: dict[str, Citation], rows: Iterable[Mapping[str, str]]) -> None:
    """Add the sources of a view; one with the words it says is not lost to one without."""
    for row in rows:
        ref, quote = row["ref"], row.get("quote", "")
        if "title" in row and (quote or ref not in sources):
            sources[ref] = Citation(
                ref=ref,
                title=one_line(row["title"], TITLE_LIMIT_CHARS),
                date=row.get("date") or None,
                quote=one_line(quote, QUOTE_LIMIT_CHARS) if quote else None,
            )


_LISTING = ("list_", "search_", "find_", "recall")
_WITH_TEXT = ("read_mail", "read_own_document")
# Of results that are no views: what tells a reader nothing.
_SILENT = ("patient_id", "media_type", "artifact_id", "size_bytes", "generated_at", "shortened")
_CHANGED = ("created", "added", "moved", "done", "changed", "draft")


def item_line(row: Mapping[str, Any], language: str, *, year: int) -> str:
    """Return an appointment, a mail, a task and the like as a line, read in `year`; 0: any."""
    called = ("title", "subject", "name", "doctor")
    name = next((str(row[one]) for one in called if row.get(one)), "")
    name = talk_text(language, "about_another") if name == ABOUT_ANOTHER else name
    when = next((str(row[one]) for one in ("start", "received", "due") if row.get(one)), "")
    listed = ("sender", "location", "organization", "email", "phone", "reason")
    said = [str(row[one]) for one in listed if row.get(one)]
    details = ", ".join([*said, *row.get("attendees", ())])  # who comes to it
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    rest = talk_text(language, "to_somebody", names=to) if to else f"({details})" if details else ""
    has_time = ":" in when and not row.get("is_all_day")
    at = datetime.fromisoformat(when) if when else None
    # A task may be due in a year, and a mail be of the last: it would read as one of this week.
    has_year = bool(row.get("due")) or (at is not None and year not in (0, at.year))
    day = ""
    if at is not None:
        day = day_text(language, at, has_time=has_time, has_year=has_year)
    if has_time and (end := row.get("end")):
        day += f"–{datetime.fromisoformat(end):%H:%M}"
    return " ".join(filter(None, (day, name, rest)))


def items_in(data: Mapping[str, Any]) -> list[Any]:
    """Return what a tool listed or changed: the first list of its result."""
    return next((one for one in data.values() if isinstance(one, list)), [])


def told_result(language: str, tool: str, data: Mapping[str, Any], *, now: datetime | None) -> str:
    """Return what a tool gave that lists or changes something, as a user reads it `now`."""
    say, rows, year = partial(talk_text, language), items_in(data), now.year if now else 0
    error = str(data.get("error") or "")
    if "asked which" in error:
        return say("please_choose")
    if error:
        said, is_order, _ = error.partition("; nothing is prepared")
        problem = said.rstrip(".") if is_order else problem_told(said, language)
        return say("changed_nothing", problem=problem)
    told = str(data.get("told", "")) or ("asked" in data and say("please_confirm"))
    if told:
        return told
    lines = [one if isinstance(one, str) else item_line(one, language, year=year) for one in rows]
    if tool in _WITH_TEXT:
        text = next((str(data[one]) for one in ("text", "withheld") if data.get(one)), "")
        text = text or next((row["body"] for row in rows if row.get("body")), "")
        quoted = (text or say("holds_no_text")).splitlines()
        return "\n".join([*lines, "", *(f"> {line}" for line in quoted)])
    if not rows and tool.startswith(_LISTING):
        return say(f"none_{tool}", count=data.get("turns_searched", 0))
    more, day = [say("and_more_rows")] * bool(data.get("more")), data.get("day")
    title = f"**{say(f'title_{tool}')}**"
    title += f" {item_line({'start': day}, language, year=year)}" if day else ""
    return "\n".join([title, *(f"- {line}" for line in lines), *more])


def plain_rows(language: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool gave that gives no rows of the chart, a field each."""
    words = answer_words(language)
    for key, value in data.items():
        plain = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        said = map(str, value) if isinstance(value, list) else [plain]
        told = ", ".join(words.word(in_own_language(one, language)) for one in said)
        if key not in _SILENT and told:
            own = f"field_{key}"
            name = talk_text(language, own) if has_text(own) else key.replace("_", " ")
            yield f"- {name[:1].upper()}{name[1:]}: {told}"


def changes_told(turn: TurnContext, runs: Sequence[FinishedRun]) -> str:
    """Return what `runs` made and changed as it is now, whatever a model says of it; "" for none.

    A model may give a tool other words than it was given, and tell of the user's.
    """
    changed = [(run.tool, row) for run in runs for row in _rows_changed(run)]
    return "\n".join(_told(turn, tool, row) for tool, row in changed)


def disputes_told(turn: TurnContext, text: str, *, of_all: bool = False) -> str:
    """Return where sources differ on what `text` tells, or on anything, but for what it shows."""
    rows = {row.name: row for view in turn.views for row in view.rows if row.status == DIFFER}
    answer, told = answer_words(turn.language), {*words_of(text if rows else "")}
    lines = list[str]()
    for name, row in rows.items():
        # `2 (2025-05-21) [a/b] versus 1 (2025-05-20) [c/d]; earlier: 0 (2024-09-18) [e/f]`
        sides = [one.partition(" (")[0] for one in row.detail.partition("; ")[0].split(" versus ")]
        is_named = any(told.issuperset(words_of(one)) for one in (name, answer.word(name)))
        if (of_all or is_named) and not told.issuperset(words_of(" ".join(sides))):
            told_name, state = answer.word(name), answer.word(DIFFER)
            lines.append(f"**{told_name}**: {state}: {answer.in_words(row.detail)}")
    return "\n".join(lines)


def _told(turn: TurnContext, tool: str, row: Mapping[str, Any]) -> str:
    line = item_line(row, turn.language, year=turn.request.now.year)
    return f"**{turn.text(f'title_{tool}')}**\n- {line}"


def _rows_changed(run: FinishedRun) -> list[Mapping[str, Any]]:
    data = run.data if has_text(f"title_{run.tool}") else None
    return [row for one in _CHANGED for row in (data or {}).get(one, ())]


_STEM_CHARS = 4
_FREE = frozenset({"find_free_time", "available_slots"})
"""Tools whose rows are times at which nothing is planned."""
_LISTS: Mapping[str, frozenset[str]] = {
    "own_calendar": frozenset({"list_events", "list_appointments"}),
    "own_tasks": frozenset({"list_tasks"}),
    "own_mail": frozenset({"search_mail", "read_mail"}),
    "own_contacts": frozenset({"search_contacts", "find_person"}),
    "own_documents": frozenset({"search_documents"}),
}
"""By kinds of things, as `phrases.yaml` calls them, the tools that list them."""
OWN_THINGS = tuple(_LISTS)


def wishes_deed(text: str) -> bool:
    """Whether a user wishes what nobody here does, or asks for deeds."""
    asks = asks_question(text) and any(one.startswith("deed:") for one in read_sentence(text).cues)
    return asks or impossible_wish(text) in BEYOND_US


def tells_so(sentence: str, *open_cues: str) -> bool:
    """Whether a sentence says, by none of `open_cues`, that something is so or will be done."""
    read = read_sentence(sentence)
    is_open = not read.cues.isdisjoint(("maybe", "not_yet", *open_cues))
    is_open &= "planned" in open_cues or "planned" not in read.cues  # "I'll call them"
    return bool(read.words) and not (is_open or read.is_question or read.asks or read.refs)


def is_unfounded(sentence: str, turn: TurnContext) -> bool:
    """Whether a sentence about a user's own things says what neither talk nor tools have.

    That there is none needs a list without any; what the user asks after is no word for it.
    """
    if "?" in sentence:
        return False
    if _figures_unknown(sentence, turn):
        return True
    if says(sentence, "none_of_own"):
        return not _has_none(sentence, turn)
    if says(sentence, "leaves_open"):
        return False
    is_changed = _is_changed(turn)
    told = _telling(sentence, is_changed=is_changed)
    said = " ".join((*_shown(turn), *_found(turn), *(_typed(turn) if is_changed else ())))
    unknown = told - _beginnings(said)
    has_run = any(run.data is not None for run in turn.ran)
    is_list = has_run and not is_changed and tells_so(sentence, "first_person", "no", "nothing")
    return bool(unknown or not (told or has_run)) and (
        says(sentence, "told_of_own") or len(unknown) < len(told) or is_list
    )


def is_found(sentence: str, turn: TurnContext) -> bool:
    """Whether tools found all that a sentence tells of a user's own things, and nobody's deed."""
    if any(cue.startswith("deed:") for cue in read_sentence(sentence).cues):
        return False
    told = _telling(sentence, is_changed=_is_changed(turn))
    is_told = bool(told) and told <= _beginnings(" ".join(_found(turn)))
    return is_told and not is_unfounded(sentence, turn)


def _is_changed(turn: TurnContext) -> bool:
    return any(run.data is not None and any(proven_by(run.tool)) for run in turn.ran)


def _telling(sentence: str, *, is_changed: bool) -> frozenset[str]:
    return _beginnings(sentence) - _telling_nothing(is_changed=is_changed)


def _beginnings(text: str) -> frozenset[str]:
    return frozenset(one[:_STEM_CHARS] for one in words_of(text) if len(one) >= _STEM_CHARS)


@cache
def _telling_nothing(*, is_changed: bool) -> frozenset[str]:
    """Return how words begin that name no thing; where a tool changed one, what it did neither."""
    words, deeds = (
        {one[:_STEM_CHARS] for name in names for one in words_for(name)}
        for names in (("errand_words", "filler"), ("errand_deeds",))
    )
    return frozenset(words | deeds if is_changed else words - deeds)


def _has_none(sentence: str, turn: TurnContext) -> bool:
    """Whether tools looked for all kinds of things that are said not to be there, and found none.

    "Nothing else" is said beside what they found.
    """
    runs = [run for run in turn.ran if run.data is not None]
    if any(run.tool in _FREE for run in runs):
        return True
    part, is_rest = part_of_day_in(sentence), says(sentence, "rest_of_own")
    kinds = [tools for one, tools in _LISTS.items() if says(sentence, one)]
    found = [[one for one in runs if one.tool in tools] for tools in kinds] or [runs]
    given = (one for of_kind in found for run in of_kind for one in (run.data or {}).values())
    rows = (row for one in given if isinstance(one, list | tuple) for row in one)
    return all(found) and (is_rest or not any(_is_in(row, part) for row in rows))


def _is_in(row: Any, part: range | None) -> bool:
    """Whether a row is in a part of the day, as far as it has a time."""
    start = str(row.get("start", "")) if isinstance(row, Mapping) else ""
    if part is None or ":" not in start:
        return True
    at = datetime.fromisoformat(start)
    return 60 * at.hour + at.minute in part


def _figures_unknown(sentence: str, turn: TurnContext) -> frozenset[str]:
    """Return the figures of `sentence` that nobody and no tool said."""
    if not (stated := figures_said(sentence)):
        return frozenset()
    said = (*_typed(turn), *_shown(turn), *_found(turn))
    rows = [one for run in turn.ran for one in (run.data or {}).values() if isinstance(one, list)]
    counts = {str(each) for one in rows for each in range(len(one) + 1)}
    return stated - frozenset().union(counts, *(figures_said(one, is_known=True) for one in said))


def is_of_talk(text: str, turn: TurnContext) -> bool:
    """Whether what a tool is to write is what the user said: addresses and figures, most words.

    What was shown counts where they point at it or agree to it.
    """
    request, read = turn.request, turn.request.utterance
    points = read is None or bool(read.yes_no or read.references) or request.press is not None
    said = " ".join((*_typed(turn), *(_shown(turn) if points else ())))
    if any(one not in said for one in addresses_in(text)) or figures_said(text) - figures_said(
        said, is_known=True
    ):
        return False
    if fold(text)[0] in fold(said)[0]:
        return True  # in scripts without spaces no word begins like another
    words = [one for one in words_of(text) if len(one) >= _STEM_CHARS]
    known = _beginnings(said)
    return 2 * sum(one[:_STEM_CHARS] in known for one in words) >= len(words)


def _typed(turn: TurnContext) -> Iterator[str]:
    yield from (turn.request.text, turn.request.snapshot)
    yield from (past.user_message for past in turn.request.history)


def _shown(turn: TurnContext) -> Iterator[str]:
    earlier = (one for past in turn.request.history for one in past.agent_responses)
    for message in (*earlier, *turn.said):
        text = message.text
        for one in reversed([one for one in message.statements if one.state != "supported"]):
            text = f"{text[: one.start]} {text[one.end :]}"  # it proves nothing later
        yield text


def _found(turn: TurnContext) -> Iterator[str]:
    if turn.request.entities is not None:
        yield turn.request.entities.grounding(turn.agent)
    yield turn.request.now.date().isoformat()
    yield from (json.dumps(run.data, default=str, ensure_ascii=False) for run in turn.ran)

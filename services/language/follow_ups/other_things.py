"""Another thing asked as the one before was: "and AST?", "how far between those?". Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.charts.chart_parts import EDGES
from services.language.charts.chart_pieces import Piece
from services.language.charts.tools_named import OF_ALL, OVER
from services.language.follow_ups.leaning_words import may_be_of_that
from services.language.questions.question_figures import with_days
from services.language.questions.single_questions import is_of_tumour
from services.language.sentences.statement_parts import graded
from services.language.utterance import ChartQuestion
from services.language.words.folding import tokens_of


def of_another(
    about: tuple[ChartQuestion, ...], before: Sequence[ChartQuestion], *, is_for: bool = False
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of another thing, with the days and the aspect of the one before.

    Args:
        is_for: The thing is what something is for: "how long was she in with the PE?"
    """
    if len(about) != 1 or len(before) != 1:
        return about
    one, last = about[0], before[0]
    if is_for and last.head and (one.tool, last.tool) == ("problems", "encounters"):
        return (replace(last, name=f"{last.head} {one.name}", said=one.said),)
    is_of_no_time = one.span is None and one.at_age is None and not (one.around or one.month)
    is_bare = one.aspect == "all" and is_of_no_time and bool(one.name)
    if is_bare and last.head and (one.tool, last.tool) == ("allergies", "results"):
        name = f"{one.name} {last.head}"  # "peanut IgE?", "and latex?"
        return (replace(last, name=name, arguments={**last.arguments, "names": [name]}, said=name),)
    if not is_bare or one.tool != last.tool:
        return about
    if one.tool == "results":
        names = {**last.arguments, "names": one.arguments["names"]}
        # The one before was asked for of that value; of another it would pass an old one as new.
        same = replace(last, name=one.name, head=one.head, arguments=names, unit=one.unit, back=0)
        return (same,)
    taken = replace(
        one, aspect=last.aspect, part=last.part, is_past=last.is_past, at_age=last.at_age,
        is_age_in_months=last.is_age_in_months, rate=last.rate,
    )  # fmt: skip
    return (with_days(taken, last.span),)


def of_that(
    about: Sequence[ChartQuestion], last: ChartQuestion, pieces: Sequence[Piece]
) -> tuple[ChartQuestion, ...]:
    """Return what was begun at the visit, or given for the illness, that was spoken of."""
    one = about[0] if len(about) == 1 else last
    is_bare = one.tool in OVER and not (one.name or one.span or one.around)
    if not is_bare or one.aspect == "latest" or not may_be_of_that(pieces):
        return ()
    if last.tool == "problems" and last.name and one.tool == "medications":
        return (replace(last, part="treatment", aspect="all", asked_on=None),)
    is_begun = not any("ordered" in piece.of("frame") for piece in pieces)  # or once more
    begun = replace(one, arguments=OF_ALL, is_past=True, is_begun=is_begun, is_ordered=not is_begun)
    if last.tool == "encounters" and last.span is not None:
        return (with_days(begun, last.span),)
    is_one = last.tool == "encounters" and last.aspect in EDGES
    visit = (replace(last, part=None, rate=""),)
    return (replace(begun, around=visit, when="within"),) if is_one else ()


def of_those(
    about: Sequence[ChartQuestion], last: ChartQuestion, *, is_among: bool
) -> tuple[ChartQuestion, ...]:
    """Return what is asked of the rows that were told: "how far between those?", "of them …"."""
    is_count = [(one.aspect, one.name) for one in about] == [("count", "")] and not is_among
    if is_count and last.name:  # "how many shots of it?"
        return (replace(last, aspect="count", part=None, back=0, asked_on=None),)
    is_free = len(about) == 1 and about[0].span is None and not about[0].around
    is_again = is_free and (about[0].tool, about[0].name) == ("results", last.name)
    if is_again and not is_among:
        one = about[0]
        if last.around and one.aspect in EDGES:  # "the temperature at the first one"
            return (
                replace(last, around=tuple(replace(e, aspect=one.aspect) for e in last.around)),
            )
        return (replace(last, aspect=one.aspect, rate=one.rate, back=one.back),)
    tools = [one.tool for one in about]
    if is_among and (tools, last.tool) == (["problems"], "encounters"):  # "of them for asthma?"
        name = f"{last.head or last.name} {about[0].name}".strip()
        return (replace(last, aspect=about[0].aspect, name=name, head=last.head or last.name),)
    if not is_among or tools != [last.tool]:
        return ()
    return (with_days(about[0], last.span),) if is_free and last.span else (*about,)


def of_its_stage(
    text: str, about: Sequence[ChartQuestion], thing: ChartQuestion
) -> tuple[ChartQuestion, ...]:
    """Return the stage of an illness that is no tumour: "CKD?", "when did it go to stage 3?"."""
    is_staged = [(one.tool, one.name) for one in about] == [("current_status", "stage")]
    if not is_staged or thing.tool != "problems" or not thing.name or is_of_tumour(thing):
        return ()
    grade = next((one for one in tokens_of(text) if graded(one)), "")
    name = f"{thing.name} stage {grade}" if grade else thing.name
    return (replace(thing, name=name, said="", aspect=about[0].aspect, part=None),)


def is_of_the_same(about: Sequence[ChartQuestion], last: ChartQuestion) -> bool:
    """Whether one list is asked again, where the question before named something of it."""
    one = about[0] if len(about) == 1 else last
    is_bare = not one.name and one.span is None and one.tool != "chart_summary"  # "how is she?"
    return is_bare and one.tool == last.tool and bool(last.name)

"""What of the chart a message asks for: a small grammar over topics, names and aspects. Pure.

A message is cut where it joins questions. Each part says what is asked (an aspect), of what (a
topic that names a tool, a name that is known, or words that stand where a name would) and when.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

from services.language.charts import names_of_topics, tools_named
from services.language.charts.chart_file import TopicSpec
from services.language.charts.chart_parts import (
    REPORTS,
    QuestionPart,
    aspect_of,
    is_for_others,
    parted,
    read_part,
    what_of,
)
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.charts.evidence_questions import apart_from_chart
from services.language.charts.named_runs import Run, may_name
from services.language.charts.telling_topics import telling_topics, with_part_meant
from services.language.questions import events_asked, question_figures, single_questions
from services.language.questions.ages_asked import at_ages, of_what_age
from services.language.questions.chart_text import SaidOfChart, is_asking, limited, said_in
from services.language.questions.lengths_asked import span_to_now, with_lengths
from services.language.questions.parts_together import each_half, share, treat_the_same
from services.language.questions.unread_words import with_unread
from services.language.questions.value_questions import (
    MEASURED_FACTS,
    questions_of_values,
    values_at_visit,
    values_of,
    weighed_before,
    with_result,
)
from services.language.utterance import Aspect, ChartQuestion, Part, TimeSpan

_JUDGED = frozenset({"may_have", "judged"})
"""What no row answers with yes: "is latex safe for her?", "is his asthma controlled?"."""
_TO = frozenset({"to", "with", "mit", "zu", "aus"})  # before what something happened to
_OF_SOME_DAYS = frozenset({"trend", "treatment", "measured", "had_done"})  # "given in 2018"
_HAPPENED = frozenset({"problems", "procedures", "medications", "search_record"})


def chart_questions(
    text: str, *, today: date, language: str, is_guess: bool = False, is_side: bool = False
) -> tuple[ChartQuestion, ...]:
    """Return what `text` asks of the chart, in its order; nothing for any other message.

    Args:
        is_guess: The text may be in another language: every word of it has to be known.
        is_side: The text is one side of a relation, and has none of its own.
    """
    words = lexicon(language)
    # What guidelines are asked for tells no language.
    chart, beside = ("", ()) if is_guess else apart_from_chart(text, words)
    if beside and chart:
        return (*beside, *chart_questions(chart, today=today, language=language))
    if asked := beside or single_questions.codes_asked(text, words):
        return asked
    said = said_in(text, words, today=today)
    ask = partial(chart_questions, today=today, language=language, is_guess=is_guess, is_side=True)
    found = () if is_side else single_questions.of_whose_words(text, ask)
    if not found and not is_side:
        found = events_asked.asked_around(said.pieces, words, ask, shift=said.shift)
        found = events_asked.of_days_named(found, said.spans, said.folded, words)
    if not found and single_questions.asks_what_changed(
        text, said.pieces, has_days=bool(said.spans)
    ):
        return _changes(said)
    if not found and not _is_of_others(said, words, today, is_guess=is_guess):
        found = _asked_in(said, words, today)
    found = with_lengths(found, said.pieces, words, today=today)
    found = tuple(
        names_of_topics.of_which_visits(single_questions.of_relatives(found, said.text), today)
    )
    is_whole = is_side or any(one.said == said.text for one in found)
    return found if is_whole else with_unread(found, said, words)


def unread_besides(
    asked: Sequence[ChartQuestion], text: str, *, today: date, language: str
) -> tuple[ChartQuestion, ...]:
    """Return what `text` asks together with what was asked before it, with all it leaves out."""
    words = lexicon(language)
    return with_unread(asked, said_in(text, words, today=today), words)


def _changes(said: SaidOfChart) -> tuple[ChartQuestion, ...]:
    """Return all that is new; the tool keeps to the days: what ended then is dated earlier."""
    new = ChartQuestion(single_questions.CHANGES)
    return (
        replace(question_figures.with_days(new, said.spans[0]), span=None) if said.spans else new,
    )


def _is_of_others(said: SaidOfChart, words: Lexicon, today: date, *, is_guess: bool) -> bool:
    """Whether nothing of this chart is asked for, or not surely in this language."""
    pieces = said.pieces
    if not pieces or is_for_others(pieces, is_over=_are_over(pieces, said.spans, today)):
        return True
    return is_guess and any(may_name(piece, words) and not piece.labels for piece in pieces)


def _asked_in(said: SaidOfChart, words: Lexicon, today: date) -> tuple[ChartQuestion, ...]:
    """Return what is asked by topics, names and aspects, each with its days and its figures."""
    parts = _parts([*said.pieces], words)
    span = span_to_now(said.spans, parts, words, today=today)
    is_asked = is_asking(said.text, said.pieces, words)
    questions: list[ChartQuestion] = []
    for part in parts:
        here = [
            _of_time(one, part, span, said.unit)
            for one in _questions(part, words, is_asked=is_asked)
        ]
        questions += events_asked.at_that_time(part, here, questions, words)
    questions = _of_the_course(
        questions, parts, span, is_over=_are_over(said.pieces, said.spans, today)
    )
    is_now_too = any("latest" in one.aspects for one in parts)
    in_days = questions if not said.ages or span is not None or is_now_too else []
    dated = question_figures.over_days(
        at_ages(questions, said.ages),
        in_days,
        said.spans,
        span=span,
        numbers=list(question_figures.numbers_in(said.pieces, words)),
        pieces=said.pieces,
    )
    return limited(dated, said)


def _of_time(
    question: ChartQuestion, part: QuestionPart, span: TimeSpan | None, unit: str
) -> ChartQuestion:
    """Return the question with what its part says of how, and of which time, it is told."""
    return replace(
        single_questions.begun(question_figures.with_rate(question, part.frames), part),
        is_past=span is not None or _is_of_all_times(question, part),
        is_begun=(span is not None or (question.tool, question.part) == ("problems", "place"))
        and not part.frames.isdisjoint({"begun", "diagnosed"}),
        is_ordered=span is not None and "ordered" in part.frames,
        unit=(unit or part.unit) if question.tool == "results" else "",
    )


def _of_the_course(
    asked: list[ChartQuestion],
    parts: Sequence[QuestionPart],
    span: TimeSpan | None,
    *,
    is_over: bool,
) -> list[ChartQuestion]:
    """Return all of some days where nothing else of them is asked for, and of no days not all."""
    said = {one for part in parts for one in (*part.aspects, *part.parts, *part.frames)}
    is_ill = "diagnosed" in said  # "anything diagnosed in 2018?", "… at the visit on 12 May?"
    is_free = not asked or (is_ill and [(o.tool, o.name) for o in asked] == [("encounters", "")])
    if is_free and span is not None and said & {*_OF_SOME_DAYS, "diagnosed"}:
        new = ChartQuestion("problems", {"status": "all"}, is_past=True, is_begun=True)
        return [new if is_ill else ChartQuestion("timeline", is_past=True)]
    if not asked and span is not None and is_over and any(map(single_questions.asks_who, parts)):
        return [ChartQuestion("encounters", part="people")]  # "which doctor 2017-03-21"
    told = [topic.tool for part in parts[-1:] for topic in part.topics]
    if [one.tool for one in asked[-2:]] == ["encounters"] * 2 and {*told} == {"timeline"}:
        return [*asked[:-2], replace(asked[-2], part="treatment")]  # "last visit, what happened?"
    if len(asked) > 1 and span is None:  # "nut allergy: which nut, and what happened?"
        return [one for one in asked if one.tool != "timeline" or one.name] or asked
    return asked


def _is_of_all_times(question: ChartQuestion, part: QuestionPart) -> bool:
    """Whether what was counts: "any K above 5?", "had", the age "bei erster Messung"."""
    is_any = question.tool == "results" and "some" in part.frames
    of_then = {"first", "minimum", "maximum", *(["latest"] if part.runs else [])}
    is_then = question.name == "age" and not of_then.isdisjoint(part.aspects)
    return is_any or "past" in part.frames or is_then or part.aspects >= {"when", "latest"}


def _are_over(pieces: Sequence[Piece], spans: Sequence[TimeSpan], today: date) -> bool:
    """Whether only days are asked about that are over: in 2019, "had since 2018", the last 3."""
    if not spans:
        return question_figures.counts_last(pieces)
    until = today if any("past" in piece.of("frame") for piece in pieces) else date.max
    return all((one.until or until) <= today for one in spans)


def _parts(pieces: list[Piece], words: Lexicon) -> list[QuestionPart]:
    """Return the questions of a message, each with what is said once for several."""
    parts = [read_part(part, words) for part in parted(pieces, words)]
    for one in parts:
        sides = {events_asked.side_of(piece, words) for piece in one.pieces}
        if sides.isdisjoint(("before", "after")):  # "hb before treatment" is no anemia's
            tools_named.with_treatment(one)
        tools_named.with_others_meant(one)
    share(parts)
    treat_the_same(parts)
    return parts


def _questions(part: QuestionPart, words: Lexicon, *, is_asked: bool) -> list[ChartQuestion]:
    """Return what one part asks; of two different things "yes" would answer neither.

    "Is his diabetes well adjusted?": that he has diabetes is no yes.
    """
    if (one_thing := single_questions.of_one_thing(part)) is not None:
        return [one_thing]
    found = list[ChartQuestion]()
    for half in each_half(part):
        found += [*values_at_visit(half)] or tools_named.taken_for(
            [*_asked_of(half, is_asked=is_asked)], half
        )
    # That a test was done is no yes to "was it positive?".
    tools, is_judged = {each.tool for each in found}, bool(part.frames & _JUDGED)
    is_mixed = (
        len(tools) > 1 or _has_more(part) or single_questions.is_either(part, words) or is_judged
    )
    tells_outcome = "outcome" in part.frames or "range" in part.parts
    is_mixed = is_mixed or (tells_outcome and bool(tools - {"results"}))
    is_of_some = is_judged or "allergies" in tools or "latest" in part.aspects  # "BP latest, DM?"
    if is_mixed and not is_of_some and not _HAPPENED.isdisjoint(tools):
        # "Hemoglobin and chemotherapy", in whatever relation: all of them.
        found = [replace(one, aspect="trend") if one.tool == "results" else one for one in found]
    found = [with_result(one, part) for one in found] + weighed_before(found, part)
    if "since_last" in part.frames and "first" not in part.aspects:  # "the first vs the last one"
        found = [question_figures.since_last(one) for one in found]
    if (place := part.place) is not None:
        is_last = "latest" in part.aspects
        found = [question_figures.in_place(one, place, is_last_too=is_last) for one in found]
    if "recurred" in part.frames:  # that it was there once is no yes
        found = [replace(one, aspect="count") if one.tool == "problems" else one for one in found]
    plain = single_questions.aspect_of_denied(part, words) or ("all" if is_mixed else "whether")
    return [*single_questions.plainly_asked([*single_questions.of_tumours(found, part)], plain)]


def _has_more(part: QuestionPart) -> bool:
    """Whether more is said of what is known: "a tetanus shot after the laceration"."""
    tools = {known.tool for run in part.runs for known in run.known}
    return len(tools) > 1 or (bool(tools) and any(not run.known for run in part.runs))


def _asked_of(part: QuestionPart, *, is_asked: bool) -> Iterator[ChartQuestion]:
    aspect = aspect_of(part)
    what = what_of(part, aspect)
    topics = telling_topics(part.topics, part.runs, part.aspects)
    if [one.name for one in topics] == ["age"] and part.frames & {"past", "at_diagnosis"}:
        yield from (elsewhere := list(of_what_age(part)))
        if any(one.tool == tools_named.SEARCH for one in elsewhere):
            return  # "how old was she at menarche?": not how old she is now
    topics = with_part_meant(names_of_topics.of_last_visit(topics, aspect), part)
    if topics:
        for topic in topics:
            # Passages are no things: two that speak of children are not two children.
            which: Aspect = "all" if topic.tool == tools_named.SEARCH else aspect
            yield from _of_topic(topic, part, which, what)
        others = [run for run in part.runs if names_of_topics.stands_alone(run, topics, part)]
        if len(topics) == 1 and not others:  # "hemoglobin at diagnosis of the anemia"
            others = [run for run in part.runs if not names_of_topics.may_be_of(topics[0], run)]
    else:
        others = part.runs
    values = [*questions_of_values(part, others, aspect, what)]
    is_searched = is_asked and not topics
    runs = [run for run in others if run.known or not topics]
    listed = [q for run in runs for q in _of_run(run, part, aspect, what, is_searched=is_searched)]
    yield from ((*listed, *values) if aspect == "count" else (*values, *listed))


def _of_run(
    run: Run, part: QuestionPart, aspect: Aspect, what: Part | None, *, is_searched: bool
) -> Iterator[ChartQuestion]:
    """Yield what is asked of one name, values apart."""
    tools = tools_named.tools_of(run, part)
    for tool in tools:
        if tool == "problems" and what == "people" and "diagnosed" not in part.frames:
            # Who was seen for it; who found it out is told by the visit of that day.
            yield ChartQuestion("encounters", {}, "all", run.name_for(tool), what)
        elif tool == "procedures" and what == "number":  # a device has one
            yield ChartQuestion("care", {}, "all", run.text, what)
        elif tool == "documents" and what == "people":  # who of the team has the field
            yield ChartQuestion("care", {}, "all", run.name_for(tool), what)
        elif tool != "results":
            asked = single_questions.named(tool, run.name_for(tool), aspect, what)
            yield replace(
                tools_named.given_at(run, asked) or asked, head=run.head_for(tool), said=run.text
            )
    if not tools and is_searched:
        yield single_questions.named(tools_named.SEARCH, run.text, aspect, what)


def _of_topic(
    topic: TopicSpec, part: QuestionPart, aspect: Aspect, what: Part | None
) -> Iterator[ChartQuestion]:
    if (found := _of_its_own(topic, part, aspect, what)) is not None:
        yield found
        return
    head = (
        topic.name
        if part.runs and topic.name in {*names_of_topics.SAY_WHAT_FOR, "operation"}
        else ""
    )
    for name in names_of_topics.names_of(topic, part):
        arguments = names_of_topics.arguments_for(topic, part, name)
        if topic.tool in ("problems", "medications") and not arguments and name:
            yield single_questions.named(topic.tool, name, aspect, what)
            continue
        if topic.tool in single_questions.NAMED_BY_ARGUMENT and name and "name" not in arguments:
            arguments["name"] = name
        typed = part.runs[0].text if topic.tool == "encounters" and part.runs else ""
        yield ChartQuestion(topic.tool, arguments, aspect, name, what, head, said=typed)


def _of_its_own(
    topic: TopicSpec, part: QuestionPart, aspect: Aspect, what: Part | None
) -> ChartQuestion | None:
    """Return the question for a topic that is no list, or is asked for by words of its own."""
    unknown = " ".join(run.text for run in part.runs if not run.known)
    if topic.name in MEASURED_FACTS and aspect in question_figures.OVER_TIME:
        return values_of([topic.name], aspect, what)  # the status tells the newest only
    is_plain_course = topic.tool == "timeline" and any(one.text in _TO for one in part.pieces)
    if unknown and (topic.name == "treatment" or is_plain_course):
        # "Heat therapy" is one of them; "what happened to the pump" tells not all that happened.
        return single_questions.named(tools_named.SEARCH, unknown, aspect, what)
    if topic.name == "primary site" and "size" in part.frames:  # where it is tells no size
        return ChartQuestion("imaging_reports", {}, "latest", "cancer")
    name = topic.name
    if topic.tool in REPORTS:
        name = " ".join([name, *map(names_of_topics.imaged, part.runs)]).strip()
    elif topic.tool != "biomarkers" or not name:
        return None
    said = names_of_topics.as_typed(topic, part)
    return ChartQuestion(topic.tool, dict(topic.arguments), aspect, name, what, said=said)

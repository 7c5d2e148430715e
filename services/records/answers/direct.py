"""What plain questions about a chart come to, from rows alone: what to look up next, or the answer.

Pure. What is absent from one list may stand in a note; only then it is not in the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import with_days
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.words.vocabulary import concept_rows
from services.records.answers import further, treatments
from services.records.answers.ages import AGE, BORN, ages_then, has_an_age, of_that_age
from services.records.answers.as_said import Told, told_as_said
from services.records.answers.choosing import events, excluded_rows, unsaid
from services.records.answers.choosing.asked_rows import asked_rows, has_answer
from services.records.answers.choosing.lengths_told import told_lengths
from services.records.answers.choosing.row_line import row_line
from services.records.answers.looked_up import (
    Looked,
    LookedUp,
    is_told_whole,
    looked_at,
    noted_of,
    told_of_day,
    told_of_giving,
)
from services.records.answers.papers import (
    letter_asked,
    parted,
    told_evidence,
    told_letter,
    told_papers,
    written_later,
)
from services.records.answers.sentences import answer_of
from services.records.answers.values_instead import measured_as, measured_for, with_scans


def answered(
    questions: Sequence[ChartQuestion],
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
    *,
    held: Sequence[str] = (),
    told: Sequence[Told] = (),
    text: str = "",
) -> ChartQuestion | str:
    """Return what has to be looked up next, or what the rows say to all `questions`.

    Args:
        given: What was looked up so far, and what that gave.
        held: What users said of the patient; what is about the questions is told beside the rows.
        told: What they told in passing, which no memory holds; likewise.
        text: The message as typed.
    """
    looked = LookedUp(given=given)
    said = [*_Answers(looked=looked, words=words).to(questions)]
    if looked.missing is not None:
        return looked.missing
    said += unsaid.said_incomplete([one for _, one in given if isinstance(one, ChartView)], words)
    said += [told_as_said(questions, words, held=held, told=told, text=text)]
    parts = [*dict.fromkeys(part for one in said if one for part in one.split("\n\n"))]
    rows = [{*one.splitlines()} for one in parts]  # of two lists the second may have no more
    new = (len(own) < 2 or not any(own <= one for one in rows[:n]) for n, own in enumerate(rows))
    return words.as_typed(words.of_one("\n\n".join(compress(parts, new))), text)


@dataclass(frozen=True, slots=True)
class _Answers:
    """Answers from what was looked up; what is said while something is missing is not used."""

    looked: LookedUp
    words: AnswerWords

    def to(self, questions: Sequence[ChartQuestion]) -> Iterator[str]:
        """Yield the answer to each question, and what is worked out over several of them."""
        is_then = any(one.name == AGE and one.is_past for one in questions)
        others = [one for one in questions if has_an_age(one, is_then=is_then)]
        unread = ""
        for question in questions:
            unread = question.unread or unread
            is_age = question.name == AGE and others and self.looked.has(question)  # not of now
            if not is_age and not self.looked.tells_beside(question, questions):
                asked, unread = replace(question, unread=unread) if unread else question, ""
                yield unsaid.said_unread(asked, self._answer(question), self.words)
        if others and any(one.name == AGE for one in questions):
            views = [(one, self.looked.view_of(one)) for one, _ in self.looked.given]
            yield from ages_then(views, others, self.words)
        yield from told_lengths([*self._of_lengths(questions)], self.words)

    def _of_lengths(
        self, questions: Sequence[ChartQuestion]
    ) -> Iterator[tuple[ChartQuestion, Sequence[ViewRow]]]:
        """Yield what asks for a length, each with its rows; events it is asked around likewise."""
        for question in questions:
            asked = [question, *(question.around if question.is_apart else ())]
            for one in asked if question.asked_on is not None else ():
                taken = self.looked.view_of(replace(one, around=()))
                rows = events.rows_of_event(one, taken)
                if not rows and (then := self._stays_then(one, taken)) is not None:
                    rows = then[2]
                if question.is_apart and one.tool == "results" and not question.around:
                    rows = asked_rows(one, taken).rows
                yield replace(one, is_apart=question.is_apart), rows

    def _answer(self, question: ChartQuestion) -> str:
        if question.at_age is not None:
            return self._at_that_age(question)
        if question.around:
            return self._around(question)
        taken = self.looked.result_of(question)
        if self.looked.missing is not None:
            return ""  # it is asked for first
        if isinstance(taken, str):
            return self.words.failed(question.tool, taken)
        taken = with_scans(question, taken, self.looked.view_of)
        whole = replace(question, without=(), aspect="all") if question.without else question
        if question.without and excluded_rows.may_be_among(question, asked_rows(whole, taken).rows):
            lead = self.words.say("unsaid", words=", ".join(question.without))
            return f"{lead}\n{self._of_view(whole, taken)}"
        no, is_there = self.words.say("no"), has_answer(question, taken)
        refuted = () if is_there else self.looked.refuted(question)
        told = "\n".join(f"{no}: {row_line(one, self.words)}" for one in refuted)
        apart = unsaid.lacking(question, taken)
        told = told or (self._of_view(question, taken) if taken.rows or not apart else "")
        each = (f"{lead}{self._answer(one)}" for lead, one in apart)
        return "\n\n".join(filter(None, [told, *each]))

    def _of_view(self, question: ChartQuestion, taken: ChartView) -> str:
        taken, papers = parted(taken) if question.tool == SEARCH else (taken, None)
        absent = told_evidence(taken, self.words) or answer_of(question, taken, self.words)
        if said := told_papers(question, papers, self.words):
            return f"{absent}\n{said}"
        if values := treatments.values_of_effect(question, taken):
            held = [one for one in values if has_answer(one, self.looked.view_of(one))]
            return "\n\n".join([absent, *map(self._answer, held)])
        if letter := letter_asked(question, asked_rows(question, taken).rows):
            return told_letter(self.looked.result_of(letter), self.words) or absent
        if treatments.asks_for_treatment(question, taken):
            return self._treated(question, taken, absent)
        if lists := looked_at(question, taken, self.words):
            views = [self.looked.view_of(one) for one in lists]
            return told_of_day(question, taken, views, absent, self.words)
        if done := excluded_rows.done_for(question):
            return self._with_done(question, done, taken)
        if question.tool == "problems" and question.aspect in ("count", "when") and question.name:
            return self._with_visits(question, taken)
        told = self._stayed(question, taken) or self._sought(question, taken, absent)
        return told_of_giving(question, told, self.looked, self.words)

    def _stayed(self, question: ChartQuestion, taken: ChartView) -> str:
        """Return the stays of the time of what no visit is for; "" where there are none."""
        if (then := self._stays_then(question, taken)) is None:
            return ""
        event, asked, rows = then
        name = question.name.removeprefix(question.head).strip()
        said = self.words.say("stays_then", name=self.words.called(name))
        told = answer_of(asked, taken.model_copy(update={"rows": rows}), self.words)
        return f"{row_line(event, self.words)}\n{said}\n{told}"

    def _stays_then(
        self, question: ChartQuestion, taken: ChartView
    ) -> tuple[ViewRow, ChartQuestion, tuple[ViewRow, ...]] | None:
        """Return what a stay is asked for, with the stays of then that are for something else."""
        each = (
            events.stays_of(question, taken, event, self.looked.view_of(event))
            for event in events.events_of_stay(question, taken)
        )
        return next(filter(None, each), None)

    def _at_that_age(self, question: ChartQuestion) -> str:
        called = concept_rows()["at_birth"].get(question.name)
        if called and not question.age_years:
            own = ChartQuestion("results", {"names": [called]}, "latest", called)
            if has_answer(own, self.looked.view_of(own)):
                return self._answer(own)
        summary = self.looked.result_of(BORN)
        then = of_that_age(question, summary) if isinstance(summary, ChartView) else None
        return self.words.not_there(self.words.called(AGE)) if then is None else self._answer(then)

    def _treated(self, question: ChartQuestion, problems: ChartView, told: str) -> str:
        """Return the illness as `told`, and behind it what was given or done about it."""
        lists = [(asked, self.looked.view_of(asked)) for asked in treatments.LOOKED_AT]
        return f"{told}\n{treatments.told_treatments(question, problems, lists, self.words)}"

    def _with_visits(self, question: ChartQuestion, taken: ChartView) -> str:
        """Return how often, or when, an illness is recorded, and more visits that were for it."""
        told = self._sought(question, taken, answer_of(question, taken, self.words))
        kind = "emergency" if question.aspect == "when" else ""  # a check of it is no second time
        name = f"{kind} {question.name}".strip()
        seen = ChartQuestion("encounters", name=name, aspect=question.aspect, head=kind)
        view = self.looked.view_of(seen := with_days(seen, question.span))
        recorded = sum(len(row.sources) for row in asked_rows(question, taken).rows)
        is_more = len(asked_rows(seen, view).rows) > recorded > 0
        if question.aspect == "count" and recorded == 1:
            told = "\n".join([told, *noted_of(question.name, self.looked, self.words)])
        return f"{told}\n{answer_of(seen, view, self.words)}" if is_more else told

    def _with_done(self, question: ChartQuestion, done: ChartQuestion, taken: ChartView) -> str:
        """Return what a list says, and what is recorded of it as procedures behind it."""
        told = self._sought(question, taken, answer_of(question, taken, self.words))
        view = self.looked.view_of(done)
        if not (rows := excluded_rows.told_by(done, view)):
            return told
        found = answer_of(done, view.model_copy(update={"rows": rows}), self.words)
        return told if found in told else f"{told}\n{self.words.say('elsewhere')}\n{found}"

    def _sought(self, question: ChartQuestion, taken: ChartView, absent: str) -> str:
        """Return `absent`, what `taken` says, and what is found elsewhere where that is nothing."""
        looked_at = taken if question.tool == SEARCH else None
        if looked_at is not None and (measured := measured_as(question, question, taken)):
            return self._answer(measured)
        is_there = has_answer(question, taken)
        later = [*written_later(question, taken, self.words)]
        is_enough = is_there or (later and not question.month)
        for search in () if is_enough else further.searches_for(question):
            found = self.looked.result_of(search)
            record, papers = parted(found) if isinstance(found, ChartView) else (None, None)
            if record is not None and (measured := measured_as(question, search, record)):
                return self._answer(measured)
            in_papers = told_papers(search, papers, self.words)
            if record is not None and (told := self._told_there(question, search, record)):
                if is_told_whole(search):
                    told = self._of_view(search, record)  # with what letters say of it
                told = f"{told}\n{in_papers}".strip()
                said = further.led(question, search, taken, absent, told, record, self.words)
                rest = question.name.replace(search.name, "").strip() if question.head else ""
                own = question.head if rest and question.tool == "problems" else ""
                each = (noted_of(one, self.looked, self.words) for one in (rest, own) if one)
                notes = next(filter(None, each), [])  # "effusion back?": no text may have "back"
                return "\n".join([self._with_illness(question, said), *notes])
            if in_papers:
                return f"{absent}\n{in_papers}"
            is_told = record is not None and search.name and (record.rows or looked_at is None)
            looked_at = record if is_told else looked_at
        coded = () if is_there else unsaid.said_coded(question, taken, self.words)
        absent = "\n".join([absent, *coded])
        if looked_at is not None:
            absent = further.with_parts(question, absent, looked_at, self.words)
            absent = self._named(question, absent, looked_at)
            return self._with_value(measured_for(question), absent)
        return "\n".join([self._named(question, absent, taken), *later])

    def _with_illness(self, question: ChartQuestion, told: str) -> str:
        """Return a drug as `told`, and the illness it is asked for with where no reason is told."""
        untold = self.words.say("no_part", part=self.words.parts["reason"])
        if not further.is_given_for(question) or untold not in told:
            return told
        name = question.name.removeprefix(question.head).strip()
        illness = ChartQuestion("problems", {"status": "all"}, "all", name)
        view = self.looked.view_of(illness)
        found = answer_of(illness, view, self.words) if has_answer(illness, view) else ""
        return f"{told}\n{found}".rstrip()

    def _told_there(self, question: ChartQuestion, search: ChartQuestion, record: ChartView) -> str:
        """Return what `search` found, an illness with its treatment where that is asked for."""
        told = further.told_elsewhere(question, search, record, self.words)
        is_treated = bool(told) and treatments.asks_for_treatment(search, record)
        return self._treated(search, record, told) if is_treated else told

    def _named(self, question: ChartQuestion, absent: str, view: ChartView) -> str:
        """Return `absent`, also of a name that nobody knows, where `view` does not hold it."""
        is_there = has_answer(question, view)
        return absent if is_there else unsaid.said_absent(question, absent, self.words)

    def _with_value(self, measured: ChartQuestion | None, absent: str) -> str:
        """Add the value of `measured`, where there is one, to what says that an illness is not."""
        if measured is None or not has_answer(measured, found := self.looked.view_of(measured)):
            return absent
        return f"{absent}\n{self.words.say('measured')} {answer_of(measured, found, self.words)}"

    def _around(self, question: ChartQuestion) -> str:
        """Return what is asked around an event, told before it; of no days where it has none."""
        if question.when == "between":
            found = [(one, self.looked.view_of(one)) for one in question.around]
            ends, days = events.between(found)
            told = [f"- {row_line(row, self.words)}" for row in ends]
            if days.since and days.until:
                return "\n".join([*told, "", self._of_those_days(question, days)])
        told = list[str]()
        for event in question.around:
            answer, view = self._answer(event), self.looked.view_of(event)
            rows = events.rows_of_event(event, view)
            if not rows and event.head:  # said without the rest
                rows = events.rows_of_event(replace(event, name=event.head, head=""), view)
            is_row = bool(rows) and event.tool in ("problems", SEARCH)
            told.append(row_line(rows[0], self.words) if is_row else answer)
            drugs = (row for row in rows if row.kind == "medication")
            is_over = any(row.status != "active" and not row.end for row in drugs)
            if is_over and question.when in ("during", "within"):
                told[-1] += f"\n{self.words.say('no_part', part=self.words.parts['end'])}"
            if asked := self._of_times(question, event, rows):
                is_whole = event.tool == "results" and (not event.name or asked in told[-1])
                return asked if is_whole else f"{told[-1]}\n\n{asked}"
        if question.tool == "timeline":
            return "\n\n".join(told)
        asked = self._answer(replace(question, around=()))
        return "\n\n".join([*dict.fromkeys(told), f"{self.words.say('of_all_times')}\n{asked}"])

    def _of_times(
        self, question: ChartQuestion, event: ChartQuestion, rows: Sequence[ViewRow]
    ) -> str:
        """Return what is asked of each time of an event that tells of it, else of the last."""
        asked, is_alike = replace(question, around=(), shift=None), question.tool == event.tool
        times = events.times_around(question, event, rows)
        spans = [(one[:1], events.days_around(question, one, is_alike=is_alike)) for one in times]
        each = [(time, days) for time, days in spans if days is not None]
        views = ((one, with_days(asked, one[1])) for one in each if len(each) > 1)
        telling = [one for one, then in views if has_answer(then, self.looked.view_of(then))]
        return "\n\n".join(
            "\n".join([*(row_line(row, self.words) for row in time if len(each) > 1),
                       self._of_those_days(question, days)])
            for time, days in telling or each[-1:]
        )  # fmt: skip

    def _of_those_days(self, question: ChartQuestion, days: TimeSpan) -> str:
        """Return what is asked of the days around an event, and of those named besides."""
        days = events.within(days, question.span)
        if days.since is not None and days.until is not None and days.since > days.until:
            return self.words.not_then(question.name)
        return self._answer(with_days(replace(question, around=(), shift=None), days))

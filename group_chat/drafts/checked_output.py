"""Checks what an agent says, sentence by sentence, before anybody sees it (spec page 11.3)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from data_models.chart_view import NOT_OF_THE_PATIENT, ChartView
from group_chat.drafts.citations import OWN_THINGS, is_found, is_unfounded, tells_so, wishes_deed
from group_chat.drafts.statement_checking import RECORD_TOOLS
from group_chat.turn_context import TurnContext
from services.evidence.pubmed import RESEARCH
from services.language.questions.told_questions import questions_told
from services.language.requests.work import work_in
from services.language.sentences.own_deeds import notes_deed
from services.language.sentences.sentences import SentenceStream
from services.language.sentences.statements import read_sentence, refs_in
from services.language.utterance import ChartQuestion
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.language.words.statement_tables import saying, stems_told
from services.language.words.text_words import asks_question, figures_said
from services.records.answers.papers import parted
from services.statements.deeds import found_by, proven_by
from services.statements.grounds import Grounds
from services.statements.rows.verdict import UNCHECKED, Verdict
from services.statements.shown import repeats

VIEWS_SHOWN, PROOFS = 3, 7


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """One sentence with the white space behind it, and what the record says of it."""

    text: str
    verdict: Verdict


_ASKS = frozenset({"asked"})
"""What a result has whose tool only asked the user for a yes."""


class CheckedOutput:
    """One message, piece by piece; gives each sentence once it is complete and checked."""

    def __init__(self, *, turn: TurnContext, agent: str) -> None:
        self._turn = turn
        self._check = None if turn.checking is None else turn.checking.of(turn, agent)
        self._sentences = SentenceStream()
        self._unchecked: list[str] = []
        self._sought: set[str] = set()
        self._views = self._proofs = self._runs = 0
        self._first_view = len(turn.views)
        self.waits_for: Sequence[ChartQuestion] = ()
        """What has to be looked up before the next sentence is judged; then comes `resume`."""

    def feed(self, text: str) -> list[CheckedPiece]:
        """Return the sentences that are complete now."""
        if self._check is None:
            return [CheckedPiece(text, UNCHECKED)] if text else []
        # Before a sentence is complete: it waits for nothing but its own check.
        if len(self._turn.views) > self._views:
            self._take_in(self._check.grounds)
        return self._checked(self._sentences.feed(text))

    def finish(self, *, may_wait: bool = True) -> list[CheckedPiece]:
        """Return what is left at the end of the message.

        Args:
            may_wait: Whether what has to be looked up first is looked up.
        """
        return self._checked(self._sentences.finish(), may_wait=may_wait)

    def resume(self) -> list[CheckedPiece]:
        """Return the sentences that waited for rows which are looked up now."""
        self.waits_for = ()
        return self._checked([])

    def leave_open_sentence(self) -> None:
        """Forget the sentence that is not complete."""
        self._sentences = SentenceStream()

    @property
    def has_looked(self) -> bool:
        """Whether a tool of this turn returned anything of the record, or there is no check."""
        if self._check is None:
            return True
        return bool(self._turn.views) or any(one.tool in RECORD_TOOLS for one in self._turn.ran)

    @property
    def reads_records(self) -> bool:
        """Whether whoever speaks has tools of the record."""
        return self._check is not None and self._check.speaker.reads_records

    def shown_views(self, text: str) -> list[ChartView]:
        """Return the views of this message's own tools that are drawn with it, at most three.

        Series of several values, and lists and tables that the text does not name row by row. What
        the model knows the count of only comes first, and all of it.
        """
        own = self._turn.views[self._first_view :]
        own = [one for n, one in enumerate(own) if one.rows not in (each.rows for each in own[:n])]
        drawn = [one for one in own if _is_drawn(one, text) and not one.must_be_shown]
        if not self.withholds:
            # The built-in rules say the rows themselves: only a course is worth a drawing.
            drawn = [one for one in drawn if one.kind == "series" and self._asks_for_course]
            return drawn[:VIEWS_SHOWN]
        whole = [one for one in own if one.must_be_shown]
        return [*whole, *drawn[: max(0, VIEWS_SHOWN - len(whole))]]

    @property
    def _asks_for_course(self) -> bool:
        utterance = self._turn.request.utterance
        about = utterance.about if utterance is not None else ()
        return any(one.aspect in ("trend", "change") for one in about)

    @property
    def withholds(self) -> bool:
        """Whether what the record contradicts is not shown: code repeats rows and invents none."""
        return self._turn.checking is not None and self._turn.checking.is_language_model

    def marks(self, verdict: Verdict) -> bool:
        """Whether a shown sentence is listed with what the record says of it."""
        return verdict.state == "supported" or (verdict.state != "unchecked" and self.withholds)

    def names_another(self, text: str) -> bool:
        """Whether `text` names a patient who is not this one."""
        return self._check is not None and self._check.grounds.is_of_another(text)

    def unknown_refs(self, text: str) -> list[str]:
        """Return the source ids in `text` that no tool gave."""
        if self._check is None:
            return []
        known = self._check.grounds.rows.sources
        return [ref for ref in refs_in(text) if ref not in known and ref not in self._turn.sources]

    def _checked(self, sentences: list[str], *, may_wait: bool = True) -> list[CheckedPiece]:
        if self._check is None:
            return [CheckedPiece(one, UNCHECKED) for one in sentences]
        self._unchecked += sentences
        self.waits_for = self.waits_for if may_wait else ()
        if self._unchecked:
            self._take_in(self._check.grounds)
        pieces = list[CheckedPiece]()
        while self._unchecked and not self.waits_for:
            one, before = self._unchecked[0], copy(self._check)
            verdict = self._cited(one, self._check.check(one))
            if may_wait and verdict.state == "unsupported" and (asked := self._unsought(one)):
                self._check, self.waits_for = before, asked
            else:
                pieces.append(CheckedPiece(self._unchecked.pop(0), verdict))
        return pieces

    def _unsought(self, sentence: str) -> list[ChartQuestion]:
        """Return what a sentence speaks of that was not looked up for one of this message."""
        if not (self.withholds and self.reads_records) or len(self._sought) >= PROOFS:
            return []
        asked = questions_told(sentence, language=self._turn.language)
        new = [one for one in asked if repr(one) not in self._sought]
        new = new[: PROOFS - len(self._sought)]
        self._sought.update(map(repr, new))
        return new

    def _cited(self, sentence: str, verdict: Verdict) -> Verdict:
        """Return the verdict on a sentence; of publications nothing stands without its source.

        Of calendars, mail and bookings nothing stands that nobody and no tool said.
        """
        if self._check is None:
            return verdict
        speaker = self._check.speaker
        if speaker.is_of_errands and verdict.state == "unsupported":
            # "The tumor board is at two" says nothing of a tumor.
            return UNCHECKED if is_found(sentence, self._turn) else verdict
        if verdict.state != "unchecked":
            return verdict
        is_undone = all(one.data is None or one.is_view for one in self._turn.ran)
        is_undone = is_undone and self._wishes_deed
        if is_undone and not self._check.grounds.deeds and tells_so(sentence, "no", "nothing"):
            return Verdict("contradicted", (), "Nothing was done in this conversation.")
        views = [one for one in self._turn.views if one.tool == RESEARCH]
        published = {ref for one in views for row in one.rows for ref in row.sources}
        is_bare = speaker.must_cite and bool(published) and published.isdisjoint(refs_in(sentence))
        is_own = says(sentence, *OWN_THINGS) or any(o[2:] for o in figures_said(sentence))  # 14:05
        is_of_errands = speaker.is_of_errands or (self._leads_alone and is_own)
        is_bare |= is_of_errands and is_unfounded(sentence, self._turn)
        is_bare |= not is_undone and self._tells_alone(sentence)
        return Verdict("unsupported") if is_bare else verdict

    def _tells_alone(self, sentence: str) -> bool:
        """Whether it says yes or no, what came back, or what who leads has not, and no row does."""
        asked, read = self._turn.request.text, self._turn.request.utterance
        may_be_asked = self.reads_records or self._leads_alone
        if self._turn.views and says(sentence, "denies_access"):
            return True
        if may_be_asked and (
            says(asked, "asks_reply") or (says(asked, "asks_you") and notes_deed(sentence))
        ):
            return tells_so(sentence, "first_person", "no", "nothing")
        is_asked = asks_question(asked) or (read is not None and bool(read.about))
        is_asked &= may_be_asked and not says(asked, "asks_you")
        is_told = is_asked and not saying("answers_whether").isdisjoint(words_of(sentence)[:1])
        if self._leads_alone:
            said = read_sentence(sentence)
            is_named = bool(said.words & stems_told("deciding")) or any(
                (one.exclusive and is_asked) or one.sites or (one.names and "asserts" in said.cues)
                for one in said.clauses
            )
            is_of_own = work_in(asked) in ("own", "visits") or says(asked, *OWN_THINGS)
            is_told |= is_named or (is_asked and is_of_own) or "about_patient" in said.cues
        return is_told and tells_so(sentence, "first_person", "planned")

    @cached_property
    def _wishes_deed(self) -> bool:
        return wishes_deed(self._turn.request.text)

    @property
    def _leads_alone(self) -> bool:
        turn, leads = self._turn, self._check is not None and self._check.speaker.leads
        return leads and not (turn.said or turn.request.plan)

    def _take_in(self, grounds: Grounds) -> None:
        """Take in what tools returned since the last sentence."""
        turn = self._turn
        for view in (*turn.views[self._views :], *turn.proofs[self._proofs :]):
            of_record, of_papers = parted(view)
            grounds.rows.add_view(of_record)
            if of_papers is not None:
                grounds.papers.add_view(of_papers)
        for run in turn.ran[self._runs :]:
            # Take in what a run did, failed to do or found done.
            if run.data is None:
                grounds.refused.update(proven_by(run.tool))
            elif not _ASKS.issubset(run.data):
                grounds.deeds.update(proven_by(run.tool))
                grounds.refused.difference_update(proven_by(run.tool))
            if any(isinstance(one, Sequence) and one for one in (run.data or {}).values()):
                grounds.found_done.update(found_by(run.tool))
        asked = [
            (one, name) for one, _ in turn.looked for name in (one.name or one.tool).split(", ")
        ]
        grounds.asked = tuple(name for _, name in asked)
        now = ("medications", "problems")  # "is she on steroids?" asks for what is taken now
        grounds.asked_now = frozenset(n for one, n in asked if one.tool in now and not one.is_past)
        self._views, self._proofs, self._runs = len(turn.views), len(turn.proofs), len(turn.ran)
        for rows in (grounds.rows, grounds.papers):
            rows.sources.update(turn.sources)


def _is_drawn(view: ChartView, text: str) -> bool:
    if view.rows and view.rows[0].kind in NOT_OF_THE_PATIENT:
        # A guideline's words and a study's criteria are not the chart's: they stand there, quoted.
        return True
    if view.kind not in ("series", "table", "timeline") or len(view.rows) < 2:
        return False
    # A curve shows what lines of text do not.
    return view.kind == "series" or not repeats(text, view)

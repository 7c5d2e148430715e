"""Checks what an agent says, sentence by sentence, before anybody sees it (spec page 11.3)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from data_models.chart_view import NOT_OF_THE_PATIENT, ChartView, ViewRow
from group_chat.drafts.citations import OWN_THINGS, is_found, is_unfounded, tells_so, wishes_deed
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.chart_tools import RECORD_TOOLS as ONCOLOGY_TOOLS
from group_chat.turn_context import TurnContext
from services.attachments.papers import is_paper
from services.evidence.pubmed import RESEARCH
from services.language.requests.work import work_in
from services.language.sentences.own_deeds import notes_deed
from services.language.sentences.sentences import SentenceStream, sentences_of
from services.language.sentences.statement_parts import REFERENCE
from services.language.sentences.statements import read_sentence, refs_in
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.language.words.statement_tables import saying, stems_told
from services.language.words.text_words import asks_question, figures_said
from services.records.answers.papers import parted
from services.records.concepts.table import concept_table
from services.statements.check import MessageCheck
from services.statements.deeds import CARRIED_OUT, NEVER_DONE, OF_PLAN, found_by, proven_by
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import stems_of
from services.statements.rows.verdict import UNCHECKED, Verdict
from services.statements.shown import repeats
from services.team import AgentSpec, Team

RECORD_TOOLS = frozenset({*CHART_TOOLS, *ONCOLOGY_TOOLS})


VIEWS_SHOWN = 3
_NUMBERED, _SAMPLE = re.compile(r"[A-Za-z]{2,12}[-_]?\d{1,8}"), r"patient_\d+"


@dataclass(frozen=True, slots=True)
class CheckedPiece:
    """One sentence with the white space behind it, and what the record says of it."""

    text: str
    verdict: Verdict


_ASKS = frozenset({"asked"})
"""What a result has whose tool only asked the user for a yes."""
_NOT_DONE = frozenset({"no", "nothing", "maybe", "not_yet"})


class StatementChecking:
    """Makes the checks of a team's messages; one for each process, holds nothing of any turn."""

    def __init__(self, *, team: Team, is_language_model: bool) -> None:
        self.is_language_model = is_language_model
        if is_language_model:
            read_words()
        self._speakers = {spec.name: _speaker(spec) for spec in team.agents}

    def of(self, turn: TurnContext, agent: str) -> MessageCheck:
        """Return the check of one message that `agent` begins."""
        request = turn.request
        rows = KnownRows()
        for one in request.held:
            rows.add_text(one, date=None, sources=())
        grounds = Grounds(
            rows=KnownRows(today=request.now.date()),
            held=rows,
            question=request.text,
            is_other_patient=names_another(request.patient_id, request.all_patient_ids),
            others_named=request.others_named,
            own_names=stems_of(request.snapshot),
            has_name=request.identity is not None and bool(request.identity.name),
        )
        _add_earlier(grounds, turn)
        if _runs_plan(turn):
            grounds.deeds.add(CARRIED_OUT)
        return MessageCheck(grounds=grounds, speaker=self._speakers.get(agent, Speaker()))


class CheckedOutput:
    """One message, piece by piece; gives each sentence once it is complete and checked."""

    def __init__(self, *, turn: TurnContext, agent: str) -> None:
        self._turn = turn
        self._check = None if turn.checking is None else turn.checking.of(turn, agent)
        self._sentences = SentenceStream()
        self._views = self._runs = 0
        self._first_view = len(turn.views)

    def feed(self, text: str) -> list[CheckedPiece]:
        """Return the sentences that are complete now."""
        if self._check is None:
            return [CheckedPiece(text, UNCHECKED)] if text else []
        # Before a sentence is complete: it waits for nothing but its own check.
        if len(self._turn.views) > self._views:
            self._take_in(self._check.grounds)
        return self._checked(self._sentences.feed(text))

    def finish(self) -> list[CheckedPiece]:
        """Return what is left at the end of the message."""
        return self._checked(self._sentences.finish())

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

    def _checked(self, sentences: list[str]) -> list[CheckedPiece]:
        check = self._check
        if check is None or not sentences:
            return [CheckedPiece(one, UNCHECKED) for one in sentences]
        self._take_in(check.grounds)
        return [CheckedPiece(one, self._cited(one, check.check(one))) for one in sentences]

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
        for view in turn.views[self._views :]:
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
        self._views, self._runs = len(turn.views), len(turn.ran)
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


def _speaker(spec: AgentSpec) -> Speaker:
    reads = not spec.facilitator and not RECORD_TOOLS.isdisjoint(spec.tools)
    searches, is_general = RESEARCH in spec.tools, spec.general_knowledge
    return Speaker(
        reads_records=reads,
        may_be_general=is_general,
        must_cite=searches,
        leads=spec.facilitator,
        is_of_errands=not (reads or searches or is_general or spec.facilitator),
    )


def _runs_plan(turn: TurnContext) -> bool:
    """Whether the patient's plan runs in this turn, or the user has just agreed to it."""
    plan, read = turn.request.plan, turn.request.utterance
    agrees = turn.request.press is not None or (
        read is not None and read.yes_no not in (None, "no")
    )
    return plan is not None and plan.is_open and (plan.status == "running" or agrees)


def _add_earlier(grounds: Grounds, turn: TurnContext) -> None:
    """Take in what earlier answers said and the record supported."""
    earlier = [message for past in turn.request.history for message in past.agent_responses]
    supported: dict[tuple[str, tuple[str, ...]], None] = {}  # each once, however often it was said
    for place, message in enumerate([*earlier, *turn.said]):
        refs = _refs_of(message.text)
        grounds.rows.sources.update(refs)
        grounds.papers.sources.update(refs)
        if message.shortened_from_chars is not None:
            continue
        told = [one for one in message.statements if one.state == "supported"]
        supported |= {(message.text[one.start : one.end], one.sources): None for one in told}
        if place < len(earlier):
            # Believed, for it was shown before: a deed that nobody did is not shown. What the
            # record tells of deeds, or nothing supports, proves none of ours.
            own = message.text
            for one in reversed(message.statements):
                own = own[: one.start] + own[one.end :]
            lines = (one for one in own.splitlines() if not _refs_of(one))
            grounds.deeds.update(_claimed_acts("\n".join(lines)))
    for text, sources in supported:
        grounds.found_done.update(_claimed_acts(text))
        rows = grounds.papers if any(map(is_paper, sources)) else grounds.rows
        rows.add_text(text, date=None, sources=sources)


@lru_cache(maxsize=1_000)
def _refs_of(text: str) -> Sequence[str]:
    return REFERENCE.findall(text) if "/" in text else ()


@lru_cache(maxsize=1_000)
def _claimed_acts(text: str) -> frozenset[str]:
    read = [one for one in map(read_sentence, sentences_of(text)) if not one.cues & _NOT_DONE]
    plans = saying("of_aims")  # a plan that is cancelled is no visit
    forms = ((OF_PLAN if one.words & plans else "{}", cue) for one in read for cue in one.cues)
    claimed = {form.format(cue[5:]) for form, cue in forms if cue.startswith("deed:")}
    return frozenset(claimed) - NEVER_DONE


def names_another(patient_id: str | None, roster: Iterable[str]) -> Callable[[str], bool]:
    """Return whether a text names a patient of the roster, or one with such an id, but this one."""
    ids = {str(one).casefold() for one in roster} - {(patient_id or "").casefold()}
    forms = [*map(re.escape, ids), _SAMPLE]
    if patient_id and _NUMBERED.fullmatch(patient_id):
        forms.append(re.sub(r"\d+", lambda _: r"\d+", re.escape(patient_id.casefold())))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])", re.IGNORECASE)
    own = (patient_id or "").casefold()

    def names(text: str) -> bool:
        return any(found.casefold() != own for found in pattern.findall(text))

    return names


def read_words() -> None:
    """Have the words read from their files, so that no first sentence waits for them."""
    concept_table()
    rows = KnownRows()
    rows.add_text("Creatinine was 1.1 mg/dL on 2 March 2026.", date=None, sources=())
    row = ViewRow(kind="medication", name="Aspirin", value="81 mg", date="2026-03-02")
    rows.add_view(ChartView(tool="medications", kind="table", title="Medications", rows=(row,)))
    check = MessageCheck(grounds=Grounds(rows=rows, has_name=True), speaker=Speaker())
    check.check("Mary Miller has creatinine of 97 umol/L since March 2026.")

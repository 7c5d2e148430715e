"""What the statements of a team's messages are compared with, made for each message."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from data_models.chart_view import ChartView, ViewRow
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.chart_tools import RECORD_TOOLS as ONCOLOGY_TOOLS
from group_chat.turn_context import TurnContext
from services.attachments.papers import is_paper
from services.evidence.pubmed import RESEARCH
from services.language.sentences.sentences import sentences_of
from services.language.sentences.statement_parts import REFERENCE
from services.language.sentences.statements import read_sentence
from services.language.words.statement_tables import saying
from services.records.concepts.table import concept_table
from services.statements.check import MessageCheck
from services.statements.deeds import CARRIED_OUT, NEVER_DONE, OF_PLAN
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import stems_of
from services.team import AgentSpec, Team

RECORD_TOOLS = frozenset({*CHART_TOOLS, *ONCOLOGY_TOOLS})
_NUMBERED, _SAMPLE = re.compile(r"[A-Za-z]{2,12}[-_]?\d{1,8}"), r"patient_\d+"
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

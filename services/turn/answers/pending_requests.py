"""A request without a patient: kept with the question whose it is, done after the answer.

The words stay with the question, where no model looks, until the user says whose they are. Then
they are that patient's, unless they may be about somebody else as well.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from data_models.conversations.conversation import WHO_KINDS, OpenQuestion
from services.identity.names.person import both_identifiers
from services.language.people.mentions import read_words
from services.language.replies.references import number_alone_in
from services.language.requests.work import asks_record
from services.language.told.telling import is_told
from services.language.utterance import Utterance
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.language.words.text_words import asks_question
from services.patient_context import answers, asking_again
from services.patient_context.roster import last_used_first
from services.patient_context.verdict import PatientVerdict
from services.turn.answers.own_deeds import refused
from services.turn.phases import ClaimedTurn, GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.reading import question_before
from services.turn.turn_step import TurnStep

_KEEP_A_REQUEST = WHO_KINDS | {"break_glass"}


class PendingRequests(TurnStep):
    """Asks whose a request is, and carries it on. Holds no state of any turn."""

    def carry_on(self, turn: LoadedTurn, verdict: PatientVerdict) -> PatientVerdict:
        """Return the verdict without its reply where the request that waited is done now."""
        question = turn.open_question()
        if question is None and verdict.question is None:
            return verdict
        is_answer = verdict.reply is not None and verdict.question is None
        if question is None or question.kind not in _KEEP_A_REQUEST or not is_answer:
            return _saying_what_is_dropped(turn, self._with_request(turn, verdict))
        asked = (*answers.waiting_in(question), *verdict.pending)
        options = answers.options_of(question)
        registry = verdict.registry or turn.registry
        may_be_theirs = partial(
            self.patients.may_be_theirs, registry=registry, is_chosen=verdict.patient_id in options
        )
        # "Patient 15", "any allergies?", "open Novák": of 15, unless an id alone answers.
        is_another = bool(options) and verdict.patient_id not in options
        is_left = question.kind == "which_patient" and " " in turn.text.strip()
        is_chosen = question.kind == "subject" and verdict.patient_id in options
        is_theirs = (
            bool(asked)
            and not (is_another and is_left)
            and (is_chosen or all(map(may_be_theirs, asked)))
        )
        is_theirs &= question.kind != "subject" or is_whom_it_names(question, verdict)
        named_by_id = partial(self.patients.names_id_of_another, registry=registry)
        is_theirs &= not (is_chosen and any(map(named_by_id, asked)))
        if not is_theirs or not _names_one(turn, verdict):
            return _saying_what_is_dropped(turn, self._with_request(turn, verdict))
        unlike = _unlike(asked, question, turn, verdict)
        left = unlike
        if is_another and turn.registry.active_patient_id not in (None, verdict.patient_id):
            # What was in doubt may be of somebody unlisted; what came later, of the one then open.
            doubted = asked[0] if question.kind == "subject" else ""
            left = [one for one in asked if one in unlike or one != doubted]
            left = [*asked] if says(turn.text, "next_patient") else left
        kept = (one for one in asked if one not in left)
        parts = [asking_again.apart_from_others(one, options, verdict) for one in kept]
        if left := [*left, *filter(None, (of_others for _, of_others in parts))]:
            self.replies.notify(
                turn,
                asking_again.not_answered(left, unlike=verdict.person if left == unlike else None),
            )
        if not (theirs := tuple(filter(None, (own for own, _ in parts)))):
            return replace(verdict, pending=())
        goes_on = f"Going on with “{asking_again.shown_waiting(theirs)}”."
        self.replies.notify(turn, f"{_whose_chart(verdict)} {goes_on}")
        return replace(verdict, reply=None, pending=theirs)

    async def with_same(self, turn: LoadedTurn, verdict: PatientVerdict) -> PatientVerdict:
        """Take the question asked last over to whom "and for 21" opens, or asks about.

        Without the name of the one it was asked of; nothing that leans on what came before it.
        "Same question" means the one asked in the chart that was open before.
        """
        question, text = verdict.question, turn.text
        opens = question is not None and bool(question.payload.get(answers.OPENS_ONLY))
        opens |= verdict.is_bare_switch and verdict.patient_id != turn.active_patient_id
        is_here = verdict.reply is None and says(text, "same_question")
        opens &= not _left(turn.open_question(), None)  # what waits was asked last
        if not is_here and not (opens and says(text, "same_for_another")):
            return verdict
        last = ""
        for chart in last_used_first(turn.registry)[: 1 + is_here]:
            document = await self.documents.beside(turn, chart)
            last = last or ("" if document is None else question_before(turn, document))
        if not last or not self.patients.may_be_theirs(last, registry=turn.registry):
            return verdict
        if question is not None:
            others = [one for one in answers.options_of(question) if one != turn.active_patient_id]
            question = asking_again.among(question, others) if others else question
            question = question.noting({answers.CARRIED: True})
            return _with_waiting(replace(verdict, reply=question.text), question, (last,))
        self.replies.notify(turn, f"Going on with “{last}”.")
        return replace(verdict, reply=None, pending=(last,))

    def instead(self, turn: LoadedTurn, verdict: PatientVerdict, order: str) -> PatientVerdict:
        """Go on with what is wanted in place of what was asked about, which is refused by that.

        Only where the message is of the open patient: "no, Doyle's" may name another one.
        """
        stays = verdict.decision in ("UNCHANGED", "RESTORED_FROM_STORAGE") and not verdict.pending
        question = turn.open_question()
        if not stays or verdict.reply is not None or question is None:
            return verdict
        self.replies.notify(turn, refused(question))
        return replace(verdict, pending=(order,))

    def following(self, turn: GroundedTurn) -> GroundedTurn | None:
        """Return the turn at what waited behind the request that is answered; None: nothing did.

        Behind a question only what is told goes on; nothing behind what a dead replica began.
        """
        left = turn.verdict.pending[1:]
        is_asked = turn.record.question is not None or turn.record.outcome != "success"
        if left and (turn.kept or (is_asked and not all(map(is_told, left)))):
            self.replies.notify(turn, asking_again.not_answered(left))
            return None
        return turn.following() if left else None

    def tell_dropped(self, turn: LoadedTurn) -> None:
        """Say which requests waited for an answer that was not given, and wait no more."""
        if left := _left(turn.open_question(), turn.record.question):
            self.replies.notify(turn, asking_again.not_answered(left))

    def tell_failed(self, turn: ClaimedTurn) -> None:
        """Say what had waited, and is not answered since the turn failed at it."""
        if isinstance(turn, UnderstoodTurn) and turn.verdict.pending:
            self.replies.notify(turn, asking_again.not_answered(turn.verdict.pending))

    def tell_displaced(self, turn: GroundedTurn) -> None:
        """Say what is not answered, or not done, where another question takes the place of one."""
        asked, beside, waited = turn.record.question, turn.verdict.question, turn.open_question()
        if asked is None:
            return
        left = [] if beside is None else answers.waiting_in(beside)
        if beside is not None and left and asked.question_id != beside.question_id:
            self.replies.notify(turn, asking_again.not_answered(left))
        if waited is None or waited.kind != "destructive_tool" or "entity_id" not in waited.payload:
            return
        if asked.question_id != waited.question_id and not turn.verdict.pending:
            self.replies.notify(turn, refused(waited))

    def ask_whose(self, turn: GroundedTurn, read: Utterance | None) -> None:
        """Ask whose a request is that nobody could look into for want of a patient."""
        document = turn.document
        runs = document.tool_memory.executions
        has_run = bool(runs) and runs[-1].turn_id == document.next_turn_id - 1
        waits = turn.continuation
        leading = self.replies.group_chat.facilitator
        is_taken = has_run or (waits is not None and waits.agent != leading)
        is_free = (
            turn.patient_id is None and turn.record.question is None and document.scenario is None
        )
        if any(one.text.rstrip().endswith("?") for one in turn.record.answers[-1:]):
            read = None  # the team asks something itself
        if is_taken or not is_free or not asks_record(turn.text, read):
            return
        waiting: Sequence[str] = [turn.text]
        before = _of_nobody(turn, turn.verdict)
        if before is not None:
            waiting = asking_again.with_what_waits(before, turn.text)[0]
        payload = {answers.ASKED: answers.as_waiting(waiting)}
        turn.ask("which_patient", self.patients.asking_whose(), patient_id=None, payload=payload)

    def tell_dropped_of_nobody(self, turn: GroundedTurn) -> None:
        """Say which requests that waited for a patient do not wait on with this one."""
        if _of_nobody(turn, turn.verdict):
            self.tell_dropped(turn)

    def _with_request(self, turn: LoadedTurn, verdict: PatientVerdict) -> PatientVerdict:
        """Keep the request with the question that this message leads to."""
        question, earlier = verdict.question, turn.open_question()
        opens_only = question is not None and bool(question.payload.get(answers.OPENS_ONLY))
        waits = (
            question is not None and bool(question.payload.get(answers.ASKED)) and not opens_only
        )
        if question is None or waits or not (question.kind == "which_patient" or opens_only):
            return verdict  # it holds its message itself
        # "back to 21: any fractures" waits for the yes to the one who is offered.
        is_request = len(question.payload.get(answers.OPTIONS, ())) == 1
        is_request = is_request or asks_record(turn.text) or asks_question(turn.text)
        asked = turn.text if not opens_only and is_request else ""
        is_same = earlier is not None and (
            asking_again.is_nameless(earlier)
            or (earlier.kind == "which_patient" and number_alone_in(turn.text) is not None)
        )
        if not asked and earlier is not None and is_same:
            # About the same request.
            return _with_waiting(verdict, question, answers.waiting_in(earlier))
        return _with_waiting(verdict, question, (asked,) if asked else ())


def _with_waiting(
    verdict: PatientVerdict, question: OpenQuestion, asked: Sequence[str]
) -> PatientVerdict:
    if not asked:
        return verdict
    return replace(verdict, question=answers.with_waiting(question, asked))


def is_whom_it_names(question: OpenQuestion, verdict: PatientVerdict) -> bool:
    """Whether a message whose words were asked about may be of whoever was opened then.

    One of those offered is, unless its words are the name of another one of them: "Helga's K" is
    nobody's but Helga's. Nobody else where it names them. Else one of the words must be their name,
    or the number theirs, but for a slip, and of a "he" it is no woman.
    """
    said, person = words_of(str(question.payload.get(answers.SAID, ""))), verdict.person
    if verdict.patient_id in answers.options_of(question):
        return not asking_again.names_another(question, verdict)
    if question.payload.get(answers.NAMES_THEM):
        return False
    sexes = (read_words(one).told_sex for one in answers.waiting_in(question))
    if not all(answers.is_of_sex(person, one) for one in sexes):
        return False
    if number := str(question.payload.get(answers.NUMBER, "")):
        return answers.are_near([number], [verdict.patient_id or ""])
    return not said or answers.is_name_of(" ".join(said), person)


def _of_nobody(turn: LoadedTurn, verdict: PatientVerdict) -> OpenQuestion | None:
    """Return the open question where nobody is open or offered: all that is asked waits on."""
    question, is_free = turn.open_question(), verdict.patient_id is None and verdict.reply is None
    return question if is_free and question and not answers.options_of(question) else None


def _whose_chart(verdict: PatientVerdict) -> str:
    if verdict.person is None:
        return f"{verdict.patient_id} is active."
    return f"This is the chart of {both_identifiers(verdict.person)}."


def _unlike(
    asked: Sequence[str], question: OpenQuestion, turn: LoadedTurn, verdict: PatientVerdict
) -> list[str]:
    """Return what of the waiting is of somebody else by an age, a birth date or a pronoun."""
    # Of a subject a pronoun alone was asked about, and chosen for.
    is_sure = question.kind == "subject" and not question.payload.get(answers.SAID)
    is_sure |= bool(question.payload.get(answers.CARRIED))
    return [one for one in asked if _is_of_another(one, turn, verdict, is_sure=is_sure)]


def _is_of_another(asked: str, turn: LoadedTurn, verdict: PatientVerdict, *, is_sure: bool) -> bool:
    """Whether the age or birth date in a message, or a pronoun that is in doubt, is not theirs."""
    is_theirs = is_sure or answers.is_of_sex(verdict.person, read_words(asked).told_sex)
    return not is_theirs or answers.is_of_another_birth(asked, verdict.person, turn.now.date())


def _saying_what_is_dropped(turn: LoadedTurn, verdict: PatientVerdict) -> PatientVerdict:
    """Say which request waited for an answer that this message ends without giving it."""
    question, next_one = turn.open_question(), verdict.question
    if _of_nobody(turn, verdict) or not (left := _left(question, next_one)):
        return verdict
    said = asking_again.not_answered(left)
    if verdict.reply is not None:
        return replace(verdict, reply=f"{verdict.reply}\n{said}")
    return replace(verdict, notice=" ".join(filter(None, (verdict.notice, said))))


def _left(question: OpenQuestion | None, next_one: OpenQuestion | None) -> Sequence[str]:
    """Return what waited for the answer to `question` and does not for that to the next one."""
    if question is None or question.kind not in _KEEP_A_REQUEST:
        return ()
    kept = () if next_one is None else answers.waiting_in(next_one)
    return [one for one in answers.waiting_in(question) if one not in kept]


def _names_one(turn: LoadedTurn, verdict: PatientVerdict) -> bool:
    names = verdict.decision in ("SWITCH_EXISTING", "NEW_BLANK", "UNCHANGED")
    is_choice = not answers.refuses(turn.answer) and not says(turn.answer, "asks_further")
    is_choice = is_choice or bool(verdict.pending)  # it waits itself: "what about her sodium?"
    return names and verdict.patient_id is not None and is_choice

"""The table of spec page 1.4: from what is meant to what happens. Pure."""

from dataclasses import dataclass
from typing import assert_never

from data_models.identifiers import PatientId
from data_models.patient_context_models import Decision, PatientContextDecision
from services.language.people.patient_phrases import wording
from services.language.replies.commands import is_clear_command
from services.patient_context.reading.candidates import digits_of
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import OPTIONS_LIMIT, Ask, Reading
from services.patient_context.reading.rules import is_negated


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens to the patient.

    Attributes:
        patient_id: Who is active afterwards.
        ask: What the user is asked; nothing changes until it is answered.
    """

    decision: Decision
    patient_id: PatientId | None
    ask: Ask | None = None


def decide(
    meant: PatientContextDecision, reading: Reading, *, restored: bool, pattern: PatientIdPattern
) -> Outcome:
    """Return the outcome of `meant`, which a model may have said, for what was really typed."""
    match meant.action:
        case "CLEAR":
            if is_clear_command(reading.text):
                return Outcome("CLEAR", None)
            kept = unchanged(reading, restored=restored)
            return Outcome(kept.decision, kept.patient_id, Ask("clear"))
        case "ACTIVATE_NEW" | "SWITCH_EXISTING":
            return _activate(meant.patient_id, reading, pattern)
        case "UNCHANGED" | "NONE":
            return _stay(reading, restored=restored)
        case _:
            assert_never(meant.action)


def go_to(patient_id: PatientId, reading: Reading) -> Outcome:
    """Return the outcome of turning to `patient_id`, which is sure."""
    if patient_id == reading.active:
        return Outcome("UNCHANGED", patient_id)
    if reading.knows(patient_id):
        return Outcome("SWITCH_EXISTING", patient_id)
    return Outcome("NEW_BLANK", patient_id)


def unchanged(reading: Reading, *, restored: bool) -> Outcome:
    """Return the outcome of a message that changes nothing."""
    if restored:
        return Outcome("RESTORED_FROM_STORAGE", reading.active)
    return Outcome("NONE" if reading.active is None else "UNCHANGED", reading.active)


def _activate(raw: str | None, reading: Reading, pattern: PatientIdPattern) -> Outcome:
    roster = (*reading.others, *filter(None, [reading.active]))
    target = None if raw is None else pattern.canonical(raw, roster)
    if reading.doubt is not None:
        return _asking(reading, reading.doubt)
    if reading.the_named is not None:
        if target == reading.the_named and not is_negated(reading):
            return go_to(target, reading)
        return _asking(reading, _between(reading, reading.the_named))
    if target is not None and _is_said(target, reading):
        return go_to(target, reading)
    return _asking(reading, _who(target, reading))


def _stay(reading: Reading, *, restored: bool) -> Outcome:
    if reading.doubt is not None:
        return _asking(reading, reading.doubt)
    named = reading.the_named
    # Naming somebody else is never going on, unless the words themselves say so, too.
    if named is not None and named != reading.active and not is_negated(reading):
        return _asking(reading, _between(reading, named))
    if reading.points_elsewhere:
        return _asking(reading, _who(None, reading))
    return unchanged(reading, restored=restored)


def _is_said(target: PatientId, reading: Reading) -> bool:
    """Whether the text says `target` in a way other than its id."""
    if target == reading.active:
        return not reading.points_elsewhere
    if reading.digits == (target,):
        return True
    is_only_other = reading.active is not None and reading.others == (target,)
    return is_only_other and wording("the_other").search(reading.shape) is not None


def _who(target: PatientId | None, reading: Reading) -> Ask:
    """Ask for a patient whom the text does not name."""
    typed = (digits.lstrip("0") or "0" for digits in wording("any_number").findall(reading.shape))
    is_other = target is not None and target != reading.active
    if target and is_other and (reading.knows(target) or digits_of(target) in typed):
        return Ask("meant", (target,))
    says_other = wording("bare_switch_to_other").fullmatch(reading.order) is not None
    says_other |= wording("the_other").search(reading.shape) is not None
    options = reading.others if reading.points_elsewhere or says_other else reading.digits
    if not options:
        return Ask("id")
    return Ask("meant" if len(options) == 1 else "which", options[:OPTIONS_LIMIT])


def _between(reading: Reading, named: PatientId) -> Ask:
    if reading.active is None or reading.active == named:
        return Ask("meant", (named,))
    return Ask("which", (reading.active, named))


def _asking(reading: Reading, ask: Ask) -> Outcome:
    return Outcome("NEEDS_PATIENT_ID", reading.active, ask)

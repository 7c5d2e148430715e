"""What a message means, where its wording leaves no doubt. Where it does, a model is asked."""

import unicodedata

from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextDecision
from services.language.people.patient_phrases import wording
from services.language.replies.commands import is_clear_command
from services.patient_context.reading.reading import Reading

# Scripts in which our English words say nothing; Latin, Greek letters and symbols stay readable.
_READABLE = ("LATIN", "GREEK", "MICRO", "MODIFIER", "FEMININE", "MASCULINE", "FULLWIDTH")


def decide_by_rules(reading: Reading) -> PatientContextDecision | None:
    """Return what the text plainly says, None where a model has to read it."""
    if is_clear_command(reading.text) or wording("clears").fullmatch(reading.order):
        return PatientContextDecision(action="CLEAR", reasoning="a wish to clear")
    if reading.doubt is not None:
        return _without_id("code cannot tell who is named")
    if reading.the_named is not None:
        if wording("played_role").search(reading.text):
            # Neither rules nor a model open a chart at the word of pasted text: the user is asked.
            return staying(reading, "a line plays a role")
        return _about(reading, reading.the_named)
    if wording("bare_switch_to_other").fullmatch(reading.order):
        if _may_mean_a_thing(reading):
            return staying(reading, "one of a list")
        only = len(reading.others) == 1 and reading.active is not None
        return activation(reading, reading.others[0]) if only else _without_id("the other patient")
    if wording("without_target").fullmatch(reading.order):
        return _without_id("a change to nobody in particular")
    return None if may_concern_patient(reading) else staying(reading, "nothing names a patient")


def _may_mean_a_thing(reading: Reading) -> bool:
    """Whether `the other one` is of a list: it is asked about, or no other patient is known."""
    is_alone = reading.active is not None and (reading.is_of_things or not reading.others)
    says_patient = wording("other_patient").search(reading.shape) or wording("change_words").search(
        reading.shape
    )
    return is_alone and not says_patient


def is_bare_switch(reading: Reading) -> bool:
    """Whether the text asks for a change of patient and for nothing else."""
    to_other = () if _may_mean_a_thing(reading) else (wording("bare_switch_to_other"),)
    kinds = [wording("bare_switch"), wording("bare_switch_by_number"), *to_other]
    is_led = bool(reading.digits) and reading.order != reading.shape  # "and 15?"
    if reading.named or reading.doubt is not None or reading.placed or is_led:
        kinds.append(wording("bare_number"))  # "7" alone answers what was asked
    return any(kind.fullmatch(reading.order) for kind in kinds)


def is_negated(reading: Reading) -> bool:
    """Whether the patient is named in what the user does not want."""
    return wording("negated").search(reading.shape) is not None


def staying(reading: Reading, reasoning: str) -> PatientContextDecision:
    """Return the decision that changes nothing."""
    if reading.active is None:
        return PatientContextDecision(action="NONE", reasoning=reasoning)
    return PatientContextDecision(action="UNCHANGED", reasoning=reasoning)


def activation(reading: Reading, patient_id: PatientId) -> PatientContextDecision:
    """Return the decision that turns to `patient_id`."""
    if reading.knows(patient_id):
        return PatientContextDecision(
            action="SWITCH_EXISTING", patient_id=patient_id, reasoning="a known patient is named"
        )
    return PatientContextDecision(
        action="ACTIVATE_NEW", patient_id=patient_id, reasoning="a new patient is named"
    )


def _about(reading: Reading, named: PatientId) -> PatientContextDecision | None:
    """Decide where exactly one patient is named."""
    if is_bare_switch(reading):
        return activation(reading, named)
    if named == reading.active:
        moves = wording("change_words").search(reading.shape) or wording("relative_words").search(
            reading.shape
        )
        return None if moves else staying(reading, "the active patient is named")
    if is_negated(reading):
        return None
    is_alone = reading.active is None and not wording("change_words").search(reading.shape)
    if is_alone or wording("topic").match(reading.order):
        return activation(reading, named)
    if wording("passing").search(reading.order):
        return None
    return activation(reading, named) if wording("activates").match(reading.order) else None


def _without_id(reasoning: str) -> PatientContextDecision:
    return PatientContextDecision(action="ACTIVATE_NEW", reasoning=reasoning)


def may_concern_patient(reading: Reading) -> bool:
    """Whether anything in the text may name or change a patient (spec page 1.3)."""
    has_two = len(reading.others) + (reading.active is not None) > 1
    return bool(reading.named) or _has_sign(reading) or (has_two and _may_point_elsewhere(reading))


def concerns_active_only(reading: Reading) -> bool:
    """Whether the text holds no id but the active one, no roster digits, no switch word."""
    if any(one != reading.active for one in reading.named) or _has_sign(reading):
        return False
    return not (reading.others and _may_point_elsewhere(reading))


def _has_sign(reading: Reading) -> bool:
    is_told = reading.doubt is not None or reading.has_roster_digits or "<unfit>" in reading.shape
    return is_told or wording("change_words").search(reading.shape) is not None


def _may_point_elsewhere(reading: Reading) -> bool:
    if wording("relative_words").search(reading.shape):
        return True
    foreign = (one for one in reading.shape if not one.isascii() and one.isalpha())
    return any(not unicodedata.name(one, "").startswith(_READABLE) for one in foreign)

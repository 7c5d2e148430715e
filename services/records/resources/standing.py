"""What a resource says of its own standing: how certain it is, whether it is meant at all. Pure."""

from typing import Final

from services.records.resources import entry as fhir

REFUTED: Final = "refuted"
DOUBTFUL: Final = frozenset({"unconfirmed", "provisional", "differential", "presumed"})
"""Certainties of what may be so and is not known to be."""
FORBIDDEN: Final = "not to be given or done"
"""The status of an order that says what must not happen."""
NEVER: Final = frozenset(
    {"not done", "not-done", "not taken", "not-taken", "cancelled", "revoked", "noshow", REFUTED,
     FORBIDDEN}
)  # fmt: skip
"""Statuses of what was not, whatever a row tells of it."""
NOT_YET: Final = frozenset(
    {"draft", "intended", "unknown", "status not recorded", "planned", "proposed", "preparation",
     "only a plan", "only a proposal", "only a option"}
)  # fmt: skip
"""Statuses of what is no fact yet, or of which nobody knows whether it is one."""
FUTURE: Final = "dated in the future"
"""The status of what is told as done, on a day that has not come."""
NONE_KNOWN: Final = "none known"
NO_KNOWN_ALLERGY: Final = "no known allergy"
NOT_KNOWN: Final = "not known"
ABSENCES: Final = frozenset({NONE_KNOWN, NO_KNOWN_ALLERGY, NOT_KNOWN})
"""Kinds of rows that state an absence, or that nothing is known: neither counts as a thing."""
_PATIENT_SUMMARY: Final = "absent-unknown-uv-ips"
_BEGINNINGS: Final = (
    "no known ", "no current ", "no previous ", "no history of proc", "no allerg", "keine bekannte",
    "keine allergi", "aucune allergi", "sin alergia",
)  # fmt: skip
_NOTHING_KNOWN: Final = ("no information ",)
_GERMAN: Final = {"A": REFUTED, "V": "unconfirmed", "G": "confirmed", "Z": "status post"}
"""Of the ICD-10-GM: a code says with it whether the diagnosis is excluded, suspected or over."""
PAST: Final = "status post"


def certainty_of(raw: fhir.Raw) -> str:
    """Return how certain a condition or an allergy is, such as `confirmed`, or ""."""
    said = fhir.code_of(fhir.one(raw, "verificationStatus"))
    return said or next(
        filter(None, map(_of_coding, fhir.many(fhir.one(raw, "code"), "coding"))), ""
    )


def _of_coding(coding: fhir.Raw) -> str:
    for extension in fhir.many(coding, "extension"):
        if fhir.text(extension, "url").endswith("diagnosesicherheit"):
            return _GERMAN.get(fhir.text(fhir.one(extension, "valueCoding"), "code"), "")
    return ""


def is_refuted(raw: fhir.Raw) -> bool:
    """Return whether a resource says that what was thought is not so."""
    return certainty_of(raw) == REFUTED and fhir.text(raw, "status") != "entered-in-error"


def is_directive(raw: fhir.Raw) -> bool:
    """Return whether a paper is an advance directive, by its type or category."""
    concepts = (*fhir.many(raw, "type"), *fhir.many(raw, "category"))
    called = (fhir.codes(each) | {fhir.label(each).casefold()} for each in concepts)
    return any(names & fhir.CODE_SETS["directives"] for names in called)


def is_forbidden(raw: fhir.Raw) -> bool:
    """Return whether an order or a step of a plan says what must not be done."""
    return raw.get("doNotPerform") is True


def absence_of(concept: fhir.Raw, name: str) -> str:
    """Return the kind of a concept that states an absence, or that nothing is known; else ""."""
    said = name.casefold()
    for system, code in fhir.codings(concept):
        if system.endswith(_PATIENT_SUMMARY):
            return NOT_KNOWN if code.endswith(("-info", "not-known")) else NONE_KNOWN
        if code in fhir.CODE_SETS["none_known"]:
            return NONE_KNOWN
    if said.startswith(_NOTHING_KNOWN):
        return NOT_KNOWN
    is_denied = said.startswith(_BEGINNINGS) or {"nkda", "nka"} & {*said.split()}
    return NONE_KNOWN if is_denied else ""

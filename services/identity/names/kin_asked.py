"""Whether a message asks for values of somebody beside the patient: "his wife's potassium". Pure.

What a family history holds, illnesses and ages of relatives, is asked of the patient's own chart.
"""

from collections.abc import Sequence

from services.identity.names.name_signs import is_clinical
from services.language.people.descriptions import values_asked
from services.language.people.mentions import Message
from services.language.people.pointed_at import is_ill
from services.language.people.signed_word import Word
from services.language.words.folding import words_of
from services.language.words.people_words import of_people
from services.language.words.phrases import says
from services.language.words.statement_tables import saying
from services.language.words.vocabulary import drug_words

_BEHIND_OWNER = 2


def asks_of_somebody_beside(message: Message) -> bool:
    """Whether values or drugs of a relative, or of the patient in the next bed, are spoken of."""
    words = message.words
    places = [at for at in range(len(words)) if _is_kin(words, at)]
    head, _, rest = message.text.replace(" - ", ", ").partition(", ")
    is_headed = not values_asked().isdisjoint(words_of(rest))  # `the one on the vent, k?`
    text = f"{head}: {rest}" if is_headed else message.text
    return any(_owns_value(words, at) for at in places) or says(text, "patient_beside")


def _is_kin(words: Sequence[Word], at: int) -> bool:
    one = words[at]
    before = words[at - 1].text if at else ""
    if one.text == "son":  # in French it is an owner itself
        is_first = one.is_owner if not at else words[at - 1].is_owner
        is_first = is_first or (at == 1 and before[-1:] == "s" and not words[0].is_common)
        return before in saying("leads_a_son") or is_first
    if one.is_in("spouses"):
        is_named = at > 0 and words[at - 1].raw.istitle() and not words[at - 1].is_common
        return before in of_people("owners") or (is_named and before[-1] == "s")  # `Beckers Frau`
    is_led = not before or before in of_people("owners", "definite") | saying("of_whom")
    # `her twin sister`
    is_led = is_led or "," in one.gap or (at > 1 and words[at - 2].is_in("owners"))
    # `Smith's wife's allergies`, `Frau Meiers Mann, Kalium?`, `doyles wife hb`
    last = words[at - 1]
    is_named = bool(last.title) or not (at > 1 or last.is_common)
    is_led = is_led or (at > 0 and (last.is_owner or (is_named and last.raw[-1] == "s")))
    return not of_people("relatives").isdisjoint((one.text, one.text.removesuffix("s"))) and is_led


def _owns_value(words: Sequence[Word], at: int) -> bool:
    """Whether a value stands behind the possessive or a colon, or before "of his son"."""
    behind = [one.text for one in words[at + 1 : at + 1 + _BEHIND_OWNER]]
    rest, beside = [one.text for one in words[at + 1 :]], of_people("by_marriage", "newest")
    values, last = values_asked("found_of_one", "scans"), "".join(rest[-1:])
    is_value = last in values and last not in of_people("told_of_kin")
    if is_value and not words[at + 1].gap.strip(" )") and beside.issuperset(rest[:-1]):
        return True  # `her mother potassium`
    who = [*words[at + 1 : at + 3], words[at], words[at]][1]  # `Schwester von ihm: Allergien`
    is_his = who.heads and (who.is_in("pronouns", "ihr") or not who.is_common)
    is_his &= who.before in of_people("particles", "about")
    is_plural = words[at].text[:-1] in of_people("relatives")  # `husbands viral load?`
    leads = words[at].is_owner or words[at].heads or is_his or is_plural
    behind = [who.after, who.beyond] if is_his else behind
    leads = leads or (at <= _BEHIND_OWNER and any("," in one.gap for one in words[at + 1 : at + 2]))
    if at + 1 < len(words) and words[at + 1].is_owner and words[at + 1].raw[0].isupper():
        leads, behind = True, [one.text for one in words[at + 2 : at + 2 + _BEHIND_OWNER]]
    if leads and not (values.isdisjoint(behind) and drug_words().isdisjoint(behind)):
        return True
    # `AF des Ehemanns`
    is_of = 1 < at == len(words) - 1 and words[at - 1].text in ("der", "des")
    behind = [*behind, words[at - 2].text] if is_of else behind
    # `her husband's diabetes`: no family history is theirs
    is_theirs = any(is_clinical(one) or is_ill(one) or one in of_people("genes") for one in behind)
    kin = (words[at].text, words[at].text.removesuffix("s"))
    return (leads or is_of) and is_theirs and not of_people("unrelated").isdisjoint(kin)

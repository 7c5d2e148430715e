"""Whether a name stands where staff, a relative, a place or a drug does: of no patient. Pure."""

from collections.abc import Collection, Sequence

from services.identity.names import name_signs as signs
from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.people.descriptions import values_asked
from services.language.people.named_person import is_known_name
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange
from services.language.words.people_words import of_people


def is_beside(
    run: Sequence[Word], span: tuple[Word, ...], strength: str, others: Collection[frozenset[str]]
) -> bool:
    """Whether the words are a drug, staff, a relative, or part of another name."""
    is_kin = strength == "given" and is_told_as_kin(span)
    is_kin = is_kin or is_first_name_beside(span, others)
    if is_kin or signs.is_part_of_another_name(run, span):
        return True
    asks = run[0].is_in("kept_of_patients") and [*run[1:2]] == [span[0]] and span[-1].closes
    # `Tochter Yost fragt nach Kalium`: whose daughter she is, and no `Dr Yost wants …`
    is_kin = strength == "family" and span[0].title == "relative" and run[1:2] == [span[0]]
    asks |= is_kin and span[-1].after in of_people("calls")
    is_person = is_person_beside(run, span) and not asks
    return is_person or has_done(run, span) or (strength != "full" and stands_as_drug(run, span))


def stands_as_drug(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether one word stands where drugs do: `is she on Yasmin?`, `Arava or methotrexate`."""
    word = span[0]
    if len(span) > 1 or word.title is not None or word.is_owner or word.is_heading:
        return False
    at = word.at - run[0].at
    # `¿toma Gustavo anticoagulantes?`, `sodium on Towne`, and not `is she on Yasmin?`
    is_asked = word.before in of_people("person_verbs")
    before = {one.text for one in run[: max(at - 1, 0)]}
    is_asked |= bool(before & chart_nouns() or before & values_asked())
    is_asked |= run[at - 1].gap[-2:-1].isdigit()
    is_name = is_known_name(word.text) or is_strange(word.text)
    if is_asked and is_name and not signs.is_clinical(word.text):
        return False
    is_drug = (
        "(" in word.gap and signs.is_clinical(word.before) and word.before not in measured_nouns()
    )
    if is_drug:
        return True
    if word.before in of_people("before_drugs"):  # and not `stop Doyle metformin`
        return signs.is_clinical(word.text) or not signs.is_clinical(word.after)
    if word.after in of_people("joins") and signs.is_clinical(word.beyond):
        return True
    return at > 1 and word.before in of_people("joins") and signs.is_clinical(run[at - 2].text)


def is_way_to_reach(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether somebody's telephone or address is meant: `Maria Kern's phone`, `mail von Kern`.

    Who is no patient is looked for among the user's contacts then.
    """
    parts = of_people("contact_parts")
    last = span[-1]
    is_owned = last.is_owner and (last.after in parts or last.beyond in parts)
    at = span[0].at - run[0].at
    before = [one.text for one in run[max(at - 2, 0) : at]]
    is_after = len(before) > 1 and before[1] in of_people("particles", "about")
    return is_owned or (is_after and before[0] in parts)


def is_name_beside(
    run: Sequence[Word], span: tuple[Word, ...], others: Collection[frozenset[str]]
) -> bool:
    """Whether the words, with the one beside them, are the whole name of a relative or doctor.

    A family name alone may be anybody's.
    """
    things, last = of_people("staff_things", "contact_parts"), span[-1]
    owned = last.beyond if last.after in of_people("plain_patients") else last.after
    if last.is_owner and not things & {last.after, owned}:
        return False  # `Keller's creatinine` is a patient's, and no letter or telephone
    at = span[0].at - run[0].at
    around = {one.text for one in run[max(at - 1, 0) : at + len(span) + 1]}
    return any(len(name) > 1 and name <= around for name in others)


def is_told_as_kin(span: tuple[Word, ...]) -> bool:
    """Whether what follows says whose relative it is: `peter her husband`."""
    word = span[-1]
    is_kin = word.after in of_people("owners") and word.beyond in of_people("relatives")
    return is_kin and not word.is_owner


def is_first_name_beside(span: tuple[Word, ...], others: Collection[frozenset[str]]) -> bool:
    """Whether a relative's first name stands alone, and nothing of a chart is said to be theirs.

    `Peter called`, not `Peter's creatinine`.
    """
    word = span[0]
    is_bare = len(span) == 1 and word.title is None and not word.is_owner and not word.is_heading
    return is_bare and word.raw[0].isupper() and any(name == {word.text} for name in others)


def is_person_beside(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether the words are a member of staff or a relative of the open patient."""
    last = span[-1]
    if last.after in ("from", "vom") and last.beyond in of_people("departments"):
        return not last.is_owner  # `Obi from transport`
    role = signs.word_behind(run, span)
    if role is not None and "," in role.gap and span[0].title in ("man", "woman"):
        # `referral to mr Ferrari, vascular surgeon`, and no `bp of mr Ferrari, nurse says 90/50`
        is_ended = role.closes if role.is_in("staff") else not role.beyond
        if is_ended and of_people("staff") & {role.text, role.after} and not span[0].is_first:
            return not last.is_owner
    if last.after in of_people("behind_places") and span[0].before in of_people("before_staff"):
        return not last.is_owner  # `seen at Grant hospital?`
    is_figure = role is not None and role.has_number
    is_figure = is_figure and span[0].before not in of_people("academics")
    is_asked = last.after in measured_nouns() and not is_figure  # `Schwester Ute: RR 90/50`
    if last.heads and (span[0].title == "relative" or is_asked):
        return False  # `Herr Doktor Brenner: Kalium?`, `Oma Brenner: Kalium?`
    if span[0].title != "staff":
        return span[0].title == "relative"
    # `Dr Meier Doyle's stage`: a chart's part belongs to a patient, a letter to who wrote it.
    is_carried = span[0].before not in of_people("staff") or last.after in measured_nouns()
    return not (is_carried and last.is_owner and last.after not in of_people("staff_things"))


def has_done(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name is of who treats the patient, or of where: `referred by moen?`."""
    if span[0].before in of_people("before_places", "copied_to") and not span[-1].is_owner:
        return not span[-1].heads
    if span[0].before == "per" and span[0].is_english and span[-1].closes:
        return not span[-1].heads  # `bp 88/50 per Thabo`
    at = span[0].at - run[0].at
    is_led = at > 1 and span[0].before in of_people("not_asked") | {"von"}
    return is_led and run[at - 2].is_in("done_by") and not span[-1].is_owner

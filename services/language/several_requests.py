"""Several requests of one message, each by itself: questions and orders. Pure."""

from functools import lru_cache
from itertools import pairwise

from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.people.without_names import without_caller
from services.language.requests.appointment_slots import names_a_time, slots_in
from services.language.told.held_statements import asks_to_hold, held_statements
from services.language.told.telling import is_told
from services.language.words.folding import words_of
from services.language.words.phrases import parts_in, places_of, says, without

_DEEDS_ON_TASKS = ("delete", "move", "done", "add")
_MOST_CHARS, _BOOKING_SLOTS, _DAY_WORDS, _AROUND = 300, 2, 2, " ,;&"
_HEAD_WORDS, _LABEL_WORDS, _CLAUSE_ENDS, _DASHES = 12, 4, tuple(",;:.-–"), (" -", " –")
_SHARED = ("time_preference", "doctor_preference")
_QUOTED, _OUT_OF_SIGHT = "\n>", "\n\n\n\n"
"""The mark of a quoted mail, and a gap that hides what stands behind it."""
_NO_SECOND = ("move_or_change", "cancel", "tells_of_past", "question", "email", "is_span")


@lru_cache(maxsize=1_000)
def apart(text: str, *, has_patient: bool = True) -> tuple[str, ...]:
    """Return what a message wants, one after the other.

    "Latest PSA? And delete all tasks", "remind me to call at 3, and what is her stage?", "book her
    with Jones and remind me to call". Questions first, for a deed may ask for a yes, and what is
    booked last; where no patient is open a question asks whose it is, and comes last.
    """
    if says(text, "leaves_patient"):  # "Done with her. Doyle's ECOG?"
        text = without(text, "leaves_patient").strip(" .,;:-\u2013") or text
    seen, _, hidden = text.partition(_OUT_OF_SIGHT)
    if hidden and seen.strip() and _is_order(hidden.strip()):
        return (seen.strip(),)  # nobody orders out of sight
    is_typed = len(text) <= _MOST_CHARS and _QUOTED not in f"\n{text}"
    wanted = _with_shared(_requests_in(text)) if is_typed else [text]
    places = {0: 0 if has_patient else 2, 1: 1, 2: 3}
    is_one = len(wanted) == 1
    return (text,) if is_one else tuple(sorted(wanted, key=lambda one: places[_place(one)]))


def begun_before(text: str, place: int) -> bool:
    """Whether a request by itself stands before the one at `place`: "bp? and note for Doyle: …"."""
    wanted = [one for one in apart(text) if one in text]
    return len(wanted) > 1 and any(text.find(one) + len(one) <= place for one in wanted)


def behind_opening(text: str) -> str:
    """Return what is told behind "open patient_7, note that …"; else the whole of `text`."""
    for at in range(1, min(_HEAD_WORDS, len(text.split())) * (len(text) <= _MOST_CHARS)):
        *words, behind = text.split(maxsplit=at)
        head, rest = " ".join(words), (parts_in(behind, "and_further") or {}).get("said", behind)
        is_name = at == 1 or (at <= _LABEL_WORDS and head.endswith(":"))
        is_apart = rest != behind or head.endswith(_CLAUSE_ENDS)
        tells = asks_to_hold(rest) or (is_apart and is_told(rest))
        if tells and not is_told(head) and (is_name or says(head, "opens_only")):
            return rest
    return text


def _place(text: str) -> int:
    is_quick = orders_task(text) or asks_to_hold(text) or says(text, "begins_other_order")
    return 0 if not _is_order(text) else 1 if is_quick and not says(text, "books_somebody") else 2


def pieces_of(text: str) -> list[str]:
    """Return what stands between the signs, and the words, that join requests."""
    ends = {0, *(at for at, _ in places_of(text, "joins_requests")), len(text)}
    signs = [at for at in range(1, len(text)) if text[at] == " "]
    ends |= {at for at in signs if text[at - 1] in ",;.?!&" or text[:at].endswith(_DASHES)}
    return [text[start:end] for start, end in pairwise(sorted(ends))]


def _requests_in(text: str) -> list[str]:
    """Return the requests of `text` in its order; what is no whole request stays with the last."""
    found = [""]
    for piece in pieces_of(text):
        joined = " ".join(piece.split()).lstrip(_AROUND)
        rest = (parts_in(joined, "and_further") or {}).get("said", joined).strip(_AROUND)
        rest += "." * (joined.endswith(".") and rest[-1:].isdigit())  # "and 9.12."
        said = found[-1].strip(_AROUND)
        is_apart = found[-1].rstrip().endswith(_CLAUSE_ENDS)
        if said and (_is_another_day(rest, found) or _is_another(said, rest, is_apart=is_apart)):
            found.append(f"{rest} ")
        else:
            found[-1] += piece
    return [one.strip(_AROUND).rstrip(" -\u2013") for one in found]


def _is_another(said: str, behind: str, *, is_apart: bool) -> bool:
    """Whether `behind` is a request by itself, and so is what was said, or told, before it.

    What is to be reminded of, and the text of a mail, go on: "remind me to call and book a room".
    """
    is_free = says(said, "new_task", "email") or asks_to_hold(said)
    if behind.startswith((parts_in(behind, "orders_test") or {}).get("test", _AROUND)):
        return _is_order(said) or "?" in said  # "Blutbild und CRP anfordern" orders both
    is_other = says(behind, "begins_other_order")
    if is_other or (not is_free and says(behind, "begins_order")):
        return _is_order(said) or _asks(said) or (is_other and is_apart and is_told(said))
    if _is_order(said):
        return _asks(behind) and says(behind, "question", *["tells_me"] * asks_to_hold(said))
    # "He is off oxygen, sats?", but no "Dr Lopez called, which drugs?", and no "… what for it?".
    is_asked = _asks(behind) and (says(behind, "question") or behind.endswith("?"))
    is_asked = is_asked and not says(behind, "points") and is_told(said)
    return is_asked and without_caller(f"{said}, {behind}") != behind


def _is_another_day(text: str, said: list[str]) -> bool:
    """Whether `text` is another day, or day and time, of an appointment: "book Mon", "Wed 9:00"."""
    if "?" in text or not _names_day(text) or not _names_day(said[-1]) or not _names_day(said[0]):
        return False
    is_day = len(text.split()) <= _DAY_WORDS or _SHARED[0] in slots_in(text, is_booking=True)
    return is_day and (says(said[0], "arranges_appointment") or names_a_time(said[0]))


def _names_day(text: str) -> bool:
    is_said = "date_preference" in slots_in(text, is_booking=True)
    return is_said and not says(text, *_NO_SECOND)


def _with_shared(wanted: list[str]) -> list[str]:
    """Return `wanted`, each with time and doctor that one of them has: "Mon and Tue 9 with Lee"."""
    if len(wanted) < 2 or not all(map(_names_day, wanted)):
        return wanted
    each = [slots_in(one, is_booking=True) for one in wanted]
    for name in _SHARED:
        said = next((one[name] for one in each if name in one), None)
        wanted = [
            one if said is None or name in own else f"{one} {said}"
            for one, own in zip(wanted, each, strict=True)
        ]
    return wanted


def _asks(text: str) -> bool:
    said = frozenset(words_of(text))
    is_asked = not (chart_nouns().isdisjoint(said) and measured_nouns().isdisjoint(said))
    is_asked = is_asked or (text.endswith("?") and " " in text)
    is_other = is_told(text) or bool(held_statements(text))
    return is_asked and not (is_other or _is_order(text))


def _is_order(text: str) -> bool:
    is_said = says(text, "begins_other_order", "begins_order") or orders_task(text)
    is_booking = len(slots_in(text, is_booking=True)) >= _BOOKING_SLOTS
    is_other = "?" in text or says(text, "tells_me")
    return not is_other and (is_said or is_booking or asks_to_hold(text))


def orders_task(text: str) -> bool:
    """Whether `text` orders something about tasks."""
    return says(text, "task") and says(text, *_DEEDS_ON_TASKS)

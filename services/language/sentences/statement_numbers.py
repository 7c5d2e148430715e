"""What the numbers of a clause are: how many of a kind, how many times, by how much it changed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from itertools import pairwise

from services.language.figures.quantities import TIME_UNITS, Quantity, quantities_in, unit_code
from services.language.figures.written_dates import FoundDate, dates_in
from services.language.words.letters import folded
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words

_YEAR_CHARS = 4
_OUT_OF = ("out", "of")
_REFERENCE_CHARS = 24
_CHANGES = frozenset({"rising", "falling"})
_OF_BODY = {"weight_change": "=body weight", "height_change": "=body height"}
_UNITS = {"=body weight": ("kg", "g", "[lb_av]"), "=body height": ("cm", "m", "[in_i]")}
_STANDING = dict.fromkeys(("inactive", "resolved", "inaktive", "stopped"), "ended ")
_SHARES = dict.fromkeys(("active", "current", "aktiv", "aktuell"), "active")
_SHARES |= dict.fromkeys((*_STANDING, "ended", "beendet"), "ended")
_NEAR = 3
_OF_DIFFERENCES = ("more_or_less", "beyond", "up_or_down", "amounts_of_change", "by")
_LIMIT_WORDS = 7
_BOUNDS = {
    ("above",): ">", ("over",): ">", ("exceed",): ">", ("exceeds",): ">", ("exceeded",): ">",
    ("exceeding",): ">", ("more", "than"): ">", ("greater", "than"): ">", ("at", "least"): ">=",
    ("below",): "<", ("under",): "<", ("less", "than"): "<", ("at", "most"): "<=",
    ("uber",): ">", ("oberhalb",): ">", ("oberhalb", "von"): ">", ("mehr", "als"): ">",
    ("mindestens",): ">=", ("unter",): "<", ("unterhalb",): "<", ("unterhalb", "von"): "<",
    ("weniger", "als"): "<", ("hochstens",): "<=",
}  # fmt: skip
_SIGNS = {one[-1] for one in _BOUNDS}


def bounded(
    words: Sequence[tuple[int, str]], lower: Sequence[str], quantities: Sequence[Quantity]
) -> list[Quantity]:
    """Return numbers, those right behind "above" or "less than" as bounds.

    Args:
        words: Where each word of the sentence stands, and the word.
        lower: The words in lower case.
    """
    places = {offset: at for at, (offset, _) in enumerate(words)}
    placed = [(places.get(one.start, 0), one) for one in quantities]
    return [_bound(lower, at, one) for at, one in placed if not _is_window(lower, at, one)]


def _is_window(words: Sequence[str], at: int, one: Quantity) -> bool:
    """Whether a number is no value: "in the last 10 years", "3 out of 10"."""
    before = tuple(words[max(0, at - 2) : at])
    return before == _OUT_OF or (
        one.unit in TIME_UNITS and not saying("of_several").isdisjoint(before[-1:])
    )


def _bound(words: Sequence[str], at: int, one: Quantity) -> Quantity:
    near = [folded(word) for word in words[max(0, at - _LIMIT_WORDS) : at]]
    last = at - len(near)
    behind_limit = [place for place, word in enumerate(near) if word in saying("limits")]
    while near and near[-1] in saying("before_a_limit"):
        near.pop()
    signs = [place for place, word in enumerate(near) if word in _SIGNS]
    if signs and behind_limit and len(near) <= behind_limit[-1] + 1:
        near = near[: signs[-1] + 1]  # "below her documented goal of 7 %"
    if near[-1:] in (["over"], ["uber"]) and not saying("from").isdisjoint(
        words[: last + len(near)]
    ):
        return one  # "from 80 over 67 to 61"
    before = near[-2:]
    if before[-1:] == ["reached"] and "never" in words[:at]:
        return replace(one, comparator=">=")
    sign = _BOUNDS.get(tuple(before)) or _BOUNDS.get(tuple(before[-1:]))
    return replace(one, comparator=sign) if sign and not one.comparator else one


def without_limits(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity]
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the values, and the ends of a range of reference behind its name: "(ref. 4-5.6)"."""
    if not quantities:
        return [], []
    at = next((place for place, word in words if folded(word) in saying("reference")), 1 << 30)
    behind = [one for one in quantities if at < one.start <= at + _REFERENCE_CHARS][:2]
    limits = behind if any(one.start < at for one in quantities) else []
    return [one for one in quantities if one not in limits], limits


def differences(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity], cues: Collection[str]
) -> list[Quantity]:
    """Return the numbers by which something changed: behind `by`, or kilograms gained.

    Args:
        words: Where each word of the clause stands, and the word in lower case.
    """
    if not quantities:
        return []
    if of := changed_of_body(cues):
        return _change_of_body(words, [q for q in quantities if q.unit in ("", *_UNITS[of])])
    offsets = {one.start: one for one in quantities}
    found = []
    said = [word for _, word in words]
    is_told = not saying(*_OF_DIFFERENCES).isdisjoint((*said, *map(folded, said)))
    for at, word in enumerate(said) if is_told else ():
        is_more = word in saying("more_or_less") and not saying("than").isdisjoint(said[at + 1 :])
        is_over = folded(word) in saying("beyond")
        if is_more or (is_over and not saying("earlier_value").isdisjoint(said[at + 1 : at + 4])):
            near = range(max(0, at - _NEAR), at)
            before = [place for place in near if words[place][0] in offsets][-1:]
            is_value = any(place and said[place - 1] in saying("at_a_value") for place in before)
            found += [offsets[words[one][0]] for one in before if not is_value]
        if word in saying("up_or_down"):
            found += [offsets[offset] for offset, _ in words[at + 1 : at + 2] if offset in offsets]
        is_noun = folded(word) in saying("amounts_of_change")
        is_noun = is_noun and not saying("of_what").isdisjoint(said[at + 1 : at + 3])
        is_by = word in saying("by") and not ("asserts" in cues and _CHANGES.isdisjoint(cues))
        if is_noun or is_by:
            behind = [offset for offset, _ in words[at + 1 : at + 5] if offset in offsets]
            found += [offsets[offset] for offset in behind[:1]]
    return found


def _change_of_body(words: Sequence[tuple[int, str]], found: Sequence[Quantity]) -> list[Quantity]:
    """Return by how much a body changed; of "grew from 84 to 139 cm" none is told."""
    course = next((offset for offset, word in words if word in saying("from")), None)
    is_change = course is None or len(found) == 1
    told = [one for one in found if one.unit][:1]
    return [one for one in told if is_change or one.start < (course or 0)]


def changed_of_body(cues: Collection[str]) -> str:
    """Return what of the body a clause tells a change of: "gained 3 kg"; "" for none."""
    return next((name for cue, name in _OF_BODY.items() if cue in cues), "")


def measured_of_body(
    words: Collection[str],
    quantities: Sequence[Quantity],
    cues: Collection[str],
    changes: Sequence[Quantity],
) -> str:
    """Return what "is 179 cm tall" and "grew from 84 to 139 cm" measure; "" for none."""
    of = changed_of_body(cues)
    if of and changes:
        return of
    of = of or ("=body height" if not saying("tall").isdisjoint(words) else "")
    return of if any(one.unit in _UNITS.get(of, ()) for one in quantities) else ""


def counted(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity], named: Collection[int]
) -> Iterator[tuple[float, str, int | None]]:
    """Yield what is counted, such as `(3.0, "problem", None)`, and where a number in digits stood.

    Args:
        words: Where each word of the clause stands, and the word in lower case.
        named: Where in `words` a clinical name stands.
    """
    known, once = statement_words(), saying("once")
    numbers = {one.start: one for one in quantities if not one.unit}
    is_told = bool(numbers) or not _counting().isdisjoint([word for _, word in words])
    for at, (start, word) in enumerate(words) if is_told else ():
        is_number = word in known.numbers
        if (start in numbers or is_number) and (share := _share_at(words, at, named)):
            number = numbers[start].number if start in numbers else known.numbers[word]
            yield float(number), share, start if start in numbers else None
            continue
        may_count = is_number or word in known.times or word in once
        if may_count and (times := _times(words, at, named)):
            yield float(times), "times", None
            continue
        kind = word if words[at - 1][1] != "1" or word in known.counted else f"{word}s"  # "1 visit"
        if kind in known.counted:
            yield from _counts_before(words, at, known.counted[kind], numbers)


@cache
def _counting() -> frozenset[str]:
    known = statement_words()
    return frozenset((*known.numbers, *known.times, *known.counted, *saying("once"), "1"))


def of_name(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity], named: AbstractSet[int]
) -> frozenset[str]:
    """Return the cue of a number that is told as the name's before it: "a potassium of 5.9".

    And that of a last value which is the earlier one: "to 30 mg from 20 mg".
    """
    if not quantities:
        return frozenset()
    starts = {one.start for one in quantities if not one.comparator}
    places = [at for at, (offset, _) in enumerate(words) if offset in starts]
    near = [at for at in places if not named.isdisjoint(range(at - _NEAR, at))]
    is_told = any(at - 1 in named or words[at - 1][1] in saying("of") for at in near)
    last = quantities[-1].start if len(quantities) > 1 else 0
    is_turned = not saying("from").isdisjoint([one for at, one in words if at < last][-1:])
    return frozenset({"of_value"} if is_told else ()) | ({"turned"} if is_turned else set())


def _counts_before(
    words: Sequence[tuple[int, str]], at: int, kind: str, numbers: Mapping[int, Quantity]
) -> Iterator[tuple[float, str, int | None]]:
    known = statement_words().numbers
    for place in range(_begin_of_counted(words, at, kind), at):
        offset, before = words[place]
        is_of_all = kind == "result" and place > 1 and words[place - 1][1] in saying("of")
        is_of_all = is_of_all and words[place - 2][0] in numbers  # "3 of 8 readings"
        if is_of_all or (place and words[place - 1][1] in saying("of_several")):
            continue
        state = "".join(_STANDING.get(one, "") for _, one in words[place + 1 : at])
        if offset in numbers:
            yield numbers[offset].number, f"{state}{kind}", offset
        elif before in known:
            yield float(known[before]), f"{state}{kind}", None


def _share_at(words: Sequence[tuple[int, str]], at: int, named: Collection[int]) -> str:
    """Return what a share of what is counted is: "4 of them active", "six of them check-ups"."""
    behind = [word for _, word in words[at + 1 : at + 1 + _NEAR + 1]]
    is_led = at and words[at - 1][1] == "davon"
    is_led = is_led or behind[1:2] in (["them"], ["which"], ["these"], ["denen"])
    of_name = "times" if any(at < one <= at + _NEAR for one in named) else ""
    return next((_SHARES[one] for one in behind if one in _SHARES), of_name) if is_led else ""


def _begin_of_counted(words: Sequence[tuple[int, str]], at: int, kind: str) -> int:
    """Return where a number may stand that counts: "3 low density lipoprotein results"."""
    begin = max(0, at - _NEAR)
    while kind == "result" and begin > 0 and words[begin][1] not in saying("parts_a_count"):
        begin -= 1
    return begin


def _times(words: Sequence[tuple[int, str]], at: int, named: Collection[int]) -> int:
    """Return how many times a number says: `twice`, `only once`, the `two` of `two strokes`."""
    known, word = statement_words(), words[at][1]
    before = words[at - 1][1] if at else ""
    behind = range(at + 1, min(at + _NEAR, len(words)))
    next_word = words[at + 1][1] if at + 1 < len(words) else "in"
    if word in saying("once") and (before in saying("only") or next_word in saying("on_a_day")):
        return 1
    if word in known.times:
        is_like = any(words[one][1] in saying("like") for one in behind[:1])
        return 0 if is_like else known.times[word]
    if known.numbers.get(word, 0) < 2 and word != "one" and before not in saying("only"):
        return 0
    is_of_kind = any(words[one][1] in known.counted or unit_code(words[one][1]) for one in behind)
    is_of_name = any(one in named for one in behind)
    return (
        known.numbers[word]
        if is_of_name and not is_of_kind and before not in saying("definite") | saying("of_several")
        else 0
    )


def is_of_several(words: Sequence[str]) -> bool:
    """Whether words are of more than the last: "over the last three measurements"."""
    if saying("of_several").isdisjoint(words):
        return False
    numbers = statement_words().numbers
    return any(
        last in saying("of_several")
        and many != "one"
        and (many in numbers or many in saying("several"))
        for last, many in pairwise(words)
    )


def days_in(body: str) -> Iterator[FoundDate]:
    """Yield the dates of a sentence; `1914 pg/mL` is no year."""
    found = dates_in(body)
    alone = [one for one in found if one.end - one.start == _YEAR_CHARS]
    measured = {one.start for one in quantities_in(body) if one.unit} if alone else set()
    yield from (one for one in found if one not in alone or one.start not in measured)

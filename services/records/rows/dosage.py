"""Dosages in words: how much, by which way, how often, how much at most."""

from collections.abc import Mapping

from services.records.resources.entry import CODES, Raw, label, labels, many, one, text
from services.records.resources.values import decimal_of, number_text, quantity, value_in

_UNITS = {"s": "second", "min": "minute", "h": "hour", "d": "day", "wk": "week", "mo": "month",
          "a": "year"}  # fmt: skip
_TIMES = {"1": "once", "2": "twice", "3": "three times", "4": "four times"}
_AMOUNTS = ("doseQuantity", "doseRange", "dose", "rateQuantity", "rateRange", "rateRatio")


def dosages_of(raw: Raw) -> list[Raw]:
    """Return the dosages of a resource of a drug, of whichever type it is."""
    return [*many(raw, "dosageInstruction"), *many(raw, "dosage")]


def dose_of(raw: Raw) -> str:
    """Return dose, route and frequency in words, or ""; what is not in sequence goes together."""
    rows = dosages_of(raw)
    said = dict.fromkeys(filter(None, map(_dosage, rows)))
    is_sequence = len({str(row.get("sequence")) for row in rows}) > 1
    return ("; then " if is_sequence else "; and ").join(said)


def is_as_needed(raw: Raw) -> bool:
    """Return whether a drug is taken only when needed."""
    rows = dosages_of(raw)
    return any(row.get("asNeededBoolean") is True or one(row, "asNeededCodeableConcept")
               for row in rows)  # fmt: skip


def _dosage(row: Raw) -> str:
    said = text(row, "text") or text(row, "patientInstruction")
    route = label(one(row, "route"))
    site = f"site {place}" if (place := label(one(row, "site"))) else ""
    amounts = [*many(row, "doseAndRate"), row]
    doses = dict.fromkeys(filter(None, map(_amount, amounts)))
    if said:  # "sliding scale" names no amount
        how = " ".join(doses) if not any(map(str.isdigit, said)) else ""
        route = "" if route.casefold() in said.casefold() else route
        return ", ".join(filter(None, (said, how, route, site, _at_most(row))))
    timing = one(row, "timing")
    how_often = label(one(timing, "code")) or _repeat(one(timing, "repeat"))
    for_what = label(one(row, "asNeededCodeableConcept"))
    needed = f"as needed for {for_what}" if for_what else ""
    if row.get("asNeededBoolean") is True:
        needed = "as needed"
    more = labels(row, "additionalInstruction")
    parts = [" ".join(doses), route, site, how_often, needed, *more, _at_most(row)]
    return ", ".join(filter(None, parts))


def _amount(row: Raw) -> str:
    told = (value_in({f"value{_kind(name, row.get(name))}": row.get(name)}) for name in _AMOUNTS)
    amounts = (one_value.whole for one_value in told if one_value.text)
    return " at ".join(amounts).replace(":1 ", "/")  # so much for each of one


def _kind(name: str, value: object) -> str:
    if name.endswith("Ratio"):
        return "Ratio"
    return "Range" if isinstance(value, dict) and {"low", "high"} & value.keys() else "Quantity"


def _at_most(row: Raw) -> str:
    ratio = one(row, "maxDosePerPeriod")
    most, period = quantity(ratio.get("numerator")), quantity(ratio.get("denominator"))
    unit = _UNITS.get(text(one(ratio, "denominator"), "code") or period.unit, period.unit)
    if not most.text or not unit:
        return ""
    length = unit if period.number == 1 else f"{period.text} {unit}s"
    return f"at most {most.whole} per {length}"


def _repeat(row: Mapping[str, object]) -> str:
    """Return how often: `1-3 times a day`, `before breakfast, for 5 days`."""
    slots = [CODES["when"].get(slot, slot) for slot in _texts(row, "when")]
    days = [f"on {', '.join(_texts(row, 'dayOfWeek'))}"] if _texts(row, "dayOfWeek") else []
    clock = [f"at {', '.join(hour[:5] for hour in _texts(row, 'timeOfDay'))}"]
    clock = clock if _texts(row, "timeOfDay") else []
    how_long = quantity(row.get("boundsDuration")).whole
    until = [f"for {how_long}"] if how_long else []
    return ", ".join(filter(None, [" ".join([_often(row), *slots, *days, *clock]).strip(), *until]))


def _often(row: Mapping[str, object]) -> str:
    period, unit = _span(row, "period"), _UNITS.get(str(row.get("periodUnit")), "")
    if not period or not unit:
        return ""
    times = _span(row, "frequency") or "1"
    often = _TIMES.get(times, f"{times} times")
    if period == "1":
        return f"{often} a {unit}"
    every = f"every {period} {unit}s"
    return every if times == "1" else f"{often} {every}"


def _span(row: Mapping[str, object], name: str) -> str:
    """Return a number, or it and its maximum as `1-3`."""
    least, most = decimal_of(row.get(name)), decimal_of(row.get(f"{name}Max"))
    return "-".join(number_text(each.normalize()) for each in (least, most) if each is not None)


def _texts(row: Mapping[str, object], name: str) -> list[str]:
    value = row.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []

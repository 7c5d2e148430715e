"""Finds what contradicts itself in a chart: dates, laboratory values, stages, ages, drugs.

It reads the bundle, not the product's views, and knows only what such a sentence looks like.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

Json = Mapping[str, Any]

_DAY = re.compile(r"\b(20\d\d-\d\d-\d\d)\b")
_SENTENCE = re.compile(r"[^.\n]+(?:\.(?!\s|$)[^.\n]*)*")
_PLANNED = re.compile(
    r"\b(?:plan\w*|book\w*|arrang\w*|request\w*|expect\w*|next|advised|will|to begin|discharge)\b",
    re.IGNORECASE,
)
_ADDENDUM = re.compile(r"Addendum (20\d\d-\d\d-\d\d):")
_STAGE = re.compile(r"\b[Ss]tage (0|I{1,3}V?[A-D]?|IV[A-D]?)\b")
_METASTASES = re.compile(r"\bc?p?M1([abc])\b")
_SINGLE = re.compile(r"(?i)\b(?:single|solitary|one) (?:\w+ ){0,2}(?:lesion|metastasis)\b")
_AGE = re.compile(r"\b(?:is |, )(\d\d)(?:-year-old| years old|, )")
_VALUE = (
    r"{name}(?: (?:of|has|have|risen|fallen|rose|fell|to|is|was|\d[\d.]*))* (\d+(?:\.\d+)?) ?{unit}"
)
# TNM, 8th edition: which stage metastases of a kind make.
_STAGE_OF_M = {
    "C34": {"a": "IVA", "b": "IVA", "c": "IVB"},
    "C18": {"a": "IVA", "b": "IVB", "c": "IVC"},
    "C61": {"a": "IVB", "b": "IVB", "c": "IVB"},
    "C43": {"a": "IV", "b": "IV", "c": "IV"},
    "C50": {"": "IV"},
}


@dataclass(frozen=True, slots=True)
class Text:
    """A note or report with its day; an addendum has a day of its own."""

    ref: str
    day: str
    text: str


def contradictions(bundle: Json) -> Iterator[str]:
    """Yield a line for each contradiction."""
    resources = [entry["resource"] for entry in bundle["entry"]]
    texts = [text for each in resources for text in _texts(each)]
    yield from _future(texts)
    yield from _values(texts, resources)
    yield from _stages(texts, resources)
    yield from _ages(texts, resources)
    yield from _drugs(resources)


def _texts(resource: Json) -> Iterator[Text]:
    ref = f"{resource['resourceType']}/{resource['id']}"
    day = str(resource.get("date") or resource.get("effectiveDateTime") or "")[:10]
    forms = [content["attachment"] for content in resource.get("content", ())]
    for form in [*forms, *resource.get("presentedForm", ())]:
        if "data" not in form or not form.get("contentType", "").startswith("text/plain"):
            continue
        first, *later = _ADDENDUM.split(base64.b64decode(form["data"]).decode())
        yield Text(ref, day, first)
        for when, text in zip(later[::2], later[1::2], strict=True):
            yield Text(ref, when, text)


def _sentences(text: Text) -> Iterator[str]:
    return (found.group() for found in _SENTENCE.finditer(text.text))


def _future(texts: list[Text]) -> Iterator[str]:
    """A day after the text's own may be planned, never reported."""
    for text in texts:
        for said in _sentences(text):
            later = [day for day in _DAY.findall(said) if day > text.day]
            if later and not _PLANNED.search(said):
                yield f"{text.ref} of {text.day} tells of {later[0]}: {said.strip()}"


def _values(texts: list[Text], resources: list[Json]) -> Iterator[str]:
    """A value that a text quotes is one of the coded ones, where the record has any near it."""
    coded = [one for one in resources if "valueQuantity" in one]
    names = {one["code"]["text"]: one["valueQuantity"]["unit"] for one in coded}
    for text in texts:
        for name, unit in names.items():
            known = [one for one in coded if one["code"]["text"] == name and _is_valid(one)]
            near = [one for one in known if _days(one["effectiveDateTime"], text.day) in range(9)]
            pattern = _VALUE.format(name=re.escape(name.split(" in ")[0]), unit=re.escape(unit))
            for found in re.finditer(pattern, text.text, re.IGNORECASE):
                values = {float(one["valueQuantity"]["value"]) for one in known}
                is_taken_back = "withdrawn" in text.text[found.end() : found.end() + 80]
                if near and not is_taken_back and float(found.group(1)) not in values:
                    yield f"{text.ref}: {found.group()} is no value of {name}: {sorted(values)}"


def _stages(texts: list[Text], resources: list[Json]) -> Iterator[str]:
    tumours = {code for one in resources for code in _icd(one) if code[:3] in _STAGE_OF_M}
    table = _STAGE_OF_M[min(tumours)[:3]] if tumours else {}
    coded = dict(_coded_stages(resources))
    for day, stage in coded.items():
        for kind in _coded_metastases(resources, day):
            if table.get(kind, stage) != stage:
                yield f"coded stage {stage} of {day} with M1{kind}, which is {table[kind]}"
    for text in texts:
        known = {stage for day, stage in coded.items() if day <= text.day}
        for said in _sentences(text):
            reason = "" if "kidney" in said else _stage_problem(said, text, known, table)
            if reason:
                yield f"{text.ref}: {reason}: {said.strip()}"


def _stage_problem(said: str, text: Text, known: set[str], table: Mapping[str, str]) -> str:
    stages, kinds = set(_STAGE.findall(said)), set(_METASTASES.findall(said))
    if kinds and stages - {table.get(kind, "") for kind in kinds}:
        return "stage and M do not fit"
    if "IVB" in stages and table.get("b") == "IVA" and _SINGLE.search(text.text):
        return "one metastasis is not stage IVB"
    others = {one for one in stages if not any(each.startswith(one) for each in known)}
    return f"neither coded ({known}) nor explained" if known and not kinds and others else ""


def _ages(texts: list[Text], resources: list[Json]) -> Iterator[str]:
    (patient,) = [one for one in resources if one["resourceType"] == "Patient"]
    born = patient["birthDate"]
    for text in texts if len(born) == 10 else ():
        for found in _AGE.finditer(text.text.split("\n\n")[0]):
            age = (int(text.day[:4]) - int(born[:4])) - (text.day[5:] < born[5:])
            if int(found.group(1)) != age:
                yield f"{text.ref} of {text.day} says {found.group(1)} years, it is {age}"


def _drugs(resources: list[Json]) -> Iterator[str]:
    for one in resources:
        period = one.get("effectivePeriod", {})
        if period.get("end", "9") < period.get("start", ""):
            yield f"{one['id']} ends before it starts"
        if one.get("status") == "active" and "end" in period:
            yield f"{one['id']} is active and has ended"


def _coded_stages(resources: list[Json]) -> Iterator[tuple[str, str]]:
    for one in resources:
        if one["resourceType"] == "Observation" and "stage" in one["code"]["text"].lower():
            found = _STAGE.search(one["valueCodeableConcept"]["text"])
            if found:
                yield one["effectiveDateTime"], found.group(1)


def _coded_metastases(resources: list[Json], day: str) -> Iterator[str]:
    for one in resources:
        if one.get("effectiveDateTime") == day and "valueCodeableConcept" in one:
            yield from _METASTASES.findall(one["valueCodeableConcept"].get("text", ""))


def _icd(resource: Json) -> Iterator[str]:
    if resource["resourceType"] == "Condition":
        yield from (coding["code"] for coding in resource["code"].get("coding", ()))


def _is_valid(resource: Json) -> bool:
    return resource.get("status") != "entered-in-error" and "effectiveDateTime" in resource


def _days(earlier: str, later: str) -> int:
    if len(earlier) < 10 or len(later) < 10:
        return -1
    return (date.fromisoformat(later) - date.fromisoformat(earlier[:10])).days

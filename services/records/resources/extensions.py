"""What extensions say that no element of R4 has a place for."""

from collections.abc import Iterator
from functools import lru_cache

from services.records.resources.entry import Raw, label, many, text
from services.records.resources.values import quantity

# Estimates that software adds to a chart say nothing about the person.
_NOT_TOLD = ("adjusted-life-years",)
_PREFIXES = ("us-core-", "patient-", "iso21090-", "mcode-")


def extensions_of(raw: Raw) -> Iterator[tuple[str, str]]:
    """Yield what each extension is called, and what it says."""
    for extension in many(raw, "extension"):
        name = text(extension, "url").rpartition("/")[2]
        if name and not name.endswith(_NOT_TOLD) and (said := _extended(extension)):
            yield _plain(name), said


def _extended(extension: Raw) -> str:
    """Return the value of an extension in words, or what its parts say."""
    inner = {text(each, "url"): each for each in many(extension, "extension")}
    if "text" in inner:
        return text(inner["text"], "valueString")
    for name, value in extension.items():
        if not name.startswith("value"):
            continue
        match value:
            case bool():
                return "yes" if value else "no"
            case str() | int() | float():
                return str(value)
            case dict() if name == "valueAddress":
                return address_of(value)
            case dict():
                said = quantity(value).whole or label(value)
                return said or text(value, "value") or text(value, "display")
            case _:
                return ""
    parts = [(_plain(name), said) for name, each in inner.items() if (said := _extended(each))]
    is_one = len({said for _, said in parts}) == 1
    return parts[0][1] if is_one else "; ".join(map(" ".join, parts))


@lru_cache(maxsize=1_000)
def _plain(name: str) -> str:
    """Return the name of an extension in words: `us-core-birthsex`, `birthPlace`."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    spaced = "".join(f" {each.lower()}" if each.isupper() else each for each in name)
    said = spaced.replace("-", " ").strip()
    return {"birthsex": "sex at birth"}.get(said, said)


def address_of(raw: Raw) -> str:
    """Return an Address in a line."""
    lines = raw.get("line")
    line = [each for each in lines if isinstance(each, str)] if isinstance(lines, list) else []
    parts = [text(raw, name) for name in ("district", "city", "state", "postalCode", "country")]
    return ", ".join(part for part in [*line, *parts] if part) or text(raw, "text")

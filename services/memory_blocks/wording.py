"""Short lines from long texts."""

import re
from datetime import datetime

from services.language.words.text_words import sentences_in

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def one_line(text: str, limit_chars: int) -> str:
    """Return `text` in one line without control characters, cut with an ellipsis if too long."""
    line = " ".join(_CONTROL.sub(" ", text[: limit_chars * 4]).split())
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1].rstrip()}…"


def last_question(text: str) -> str:
    """Return the last sentence of `text` that asks something; "" if none does."""
    tail = text[-2_000:].strip()
    sentences = [one.rpartition("\n")[2].strip(" *_>-") for one in sentences_in(tail)]
    return next((one for one in reversed(sentences) if one.endswith(("?", "\uff1f"))), "")


def first_sentence(text: str) -> str:
    """Return the first sentence of `text` that has words, without markup."""
    lines = (line.strip(" #>-|") for line in text[:2_000].replace("*", "").splitlines())
    line = next((one for one in lines if any(map(str.isalnum, one))), "")
    return sentences_in(line)[0]


def title(topic: str) -> str:
    """Return `headache_severity` as `Headache Severity`."""
    return " ".join(word[:1].upper() + word[1:] for word in topic.replace("_", " ").split())


def iso(at: datetime) -> str:
    """Return an aware UTC time as it is stored: ISO 8601 that ends with `Z`."""
    return at.isoformat().replace("+00:00", "Z")

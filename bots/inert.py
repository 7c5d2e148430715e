"""Makes an agent's Markdown harmless where a channel renders it (spec page 7, R8).

Text may come from a model or a record. No markup in it may load something, run something or lead
the reader to a place that the operator has not named.
"""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!(?=\[)")
# Possessive, so that a text of brackets which never close takes no longer than any other.
_LINK = re.compile(r"\](?=\()(\(\s*+<?+([^\s<>()]*+)[^()\n]*+\))?")
_DEFINITION = re.compile(r"\](?=:)")
_ADDRESS = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}):(//[^\s<>()\[\]`]*)")
# What more text may still change: a link that is not closed, a scheme whose colon may come.
_OPEN_LINK = re.compile(r"\](?:\(\s*+<?+[^\s<>()]*+[^()\n]*+)?\Z")
_OPEN_SCHEME = re.compile(r"(?i)\b(javascript|vbscript|data|file)\s*\Z")
_SETTLE_ROUNDS = 20
_HOST_ONLY = re.compile(r"(?i)\bwww\.")
_SCRIPT = re.compile(r"(?i)\b(javascript|vbscript|data|file)\s*+:(?=\S)")


def inert(text: str, *, hosts: Collection[str]) -> str:
    """Return `text` without HTML and images, and without links but to https and `hosts`."""
    text = _TAG.sub("&lt;", text)
    text = _IMAGE.sub("! ", text)
    text = _LINK.sub(lambda found: _link(found, hosts), text)
    text = _DEFINITION.sub("] ", text)
    text = _SCRIPT.sub(r"\1 :", text)
    text = _ADDRESS.sub(lambda found: _address(found, hosts), text)
    return _HOST_ONLY.sub("www .", text)


def settled(text: str) -> str:
    """Return the beginning of `text` that reads the same inert whatever follows it.

    So `inert(settled(a))` is how `inert(a + b)` begins, for every `b`.
    """
    for _ in range(_SETTLE_ROUNDS):
        whole = text[: max(map(text.rfind, " \n\t")) + 1]
        text = _OPEN_SCHEME.sub("", _OPEN_LINK.sub("", whole))
        if text == whole:
            return whole
    # Nobody writes like that but to keep us busy.
    return ""


def _link(found: "re.Match[str]", hosts: Collection[str]) -> str:
    whole, target = found[0], found[2]
    if target and _is_allowed(target, hosts):
        return whole
    # With a space between them, the label and the address are two texts and no link.
    return f"] {whole[1:]}"


def _address(found: "re.Match[str]", hosts: Collection[str]) -> str:
    return found[0] if _is_allowed(found[0], hosts) else f"{found[1]}: {found[2]}"


def _is_allowed(url: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = parts.username is None and "\\" not in url and "@" not in parts.netloc
    return parts.scheme == "https" and plain and parts.hostname in hosts

"""The one filter of what is shown: text that loads nothing, runs nothing and leads nowhere (R8).

Text may come from a model, a record or a user. It is filtered where it comes into being, so what is
stored, sent, exported, printed or drawn on a card is the same. Signs are kept apart by a space, so
that it reads the same whether a surface renders Markdown or not; then a CommonMark parser judges,
and what it still finds alive loses its signs.
"""

import re
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!(?=\[)")
# Possessive, so that a text of brackets which never close takes no longer than any other.
_LINK = re.compile(r"\](?=\()(\(\s*+<?+([^\s<>()]*+)[^()\n]*+\))?")
_DEFINITION = re.compile(r"\](?=:)")
_ADDRESS = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}):(?=(//[^\s<>()\[\]`]{0,500}))")
# What more text may still change: a link that is not closed, a scheme whose colon may come.
_OPEN_LINK = re.compile(r"\](?:\(\s*+<?+[^\s<>()]*+[^()\n]*+)?\Z")
_OPEN_SCHEME = re.compile(r"(?i)\b(javascript|vbscript|data|file)\s*\Z")
_SETTLE_ROUNDS = 20
_PENDING_LIMIT_CHARS = 4_000
_PARSED_LIMIT_CHARS = 4_000
_ENDS_A_WORD = re.compile(r"[ \n\t]")
_SIGNS = re.compile(r"<|\][(:]|://")
_MAY_LIVE = re.compile(r"[<\]:]|!\[|[wW]{3}\.")  # most pieces of a message have none of these
_SIGNLESS = str.maketrans("<>[]!", "()().")
_PARSER = MarkdownIt("commonmark")
_HOST_ONLY = re.compile(r"(?i)\bwww\.")
_SCRIPT = re.compile(r"(?i)\b(javascript|vbscript|data|file)\s*+:(?=\S)")


def inert(text: str, *, hosts: Collection[str]) -> str:
    """Return `text` without HTML and images, and without links but to https and `hosts`.

    Done twice it changes nothing more.
    """
    if not _MAY_LIVE.search(text):
        return text
    found = _kept_apart(text, hosts)
    is_still = not is_alive(found, hosts=hosts)
    return found if is_still else _kept_apart(found.translate(_SIGNLESS), hosts)


def is_alive(text: str, *, hosts: Collection[str]) -> bool:
    """Whether a CommonMark renderer that knows HTML and addresses would do more than write it."""
    return any(_does_something(part, hosts) for part in _parts(text))


def _does_something(text: str, hosts: Collection[str]) -> bool:
    if not _SIGNS.search(text):
        return False
    waiting = list(_PARSER.parse(text))
    while waiting:
        token = waiting.pop()
        waiting += token.children or []
        if token.type in ("html_block", "html_inline", "image"):
            return True
        if token.type == "link_open" and not _is_allowed(str(token.attrGet("href") or ""), hosts):
            return True
    return False


def _parts(text: str) -> Iterator[str]:
    """Yield `text` in parts that a parser is soon ready with, cut at an empty line if there is one.

    Brackets without an end take a parser the square of their number.
    """
    while len(text) > _PARSED_LIMIT_CHARS:
        cut = text.rfind("\n\n", 1, _PARSED_LIMIT_CHARS)
        cut = cut if cut > 0 else _PARSED_LIMIT_CHARS
        yield text[:cut]
        text = text[cut:]
    yield text


class InertStream:
    """One message, piece by piece; what it lets through in all does not depend on the pieces."""

    def __init__(self, *, hosts: Collection[str]) -> None:
        self._hosts = hosts
        self._pending = ""

    def feed(self, text: str) -> str:
        """Return what may be shown now that `text` has arrived: whole words."""
        self._pending += text
        if not text or not _ENDS_A_WORD.search(text):
            return self.finish() if len(self._pending) > _PENDING_LIMIT_CHARS else ""
        ready = settled(self._pending)
        if not ready and len(self._pending) > _PENDING_LIMIT_CHARS:
            return self.finish()
        self._pending = self._pending[len(ready) :]
        return inert(ready, hosts=self._hosts)

    def finish(self) -> str:
        """Return what was held back at the end of the message."""
        rest, self._pending = self._pending, ""
        return inert(rest, hosts=self._hosts)


def _kept_apart(text: str, hosts: Collection[str]) -> str:
    text = _TAG.sub("< ", text)
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
    is_allowed = _is_allowed(f"{found[0]}{found[2]}", hosts)
    return found[0] if is_allowed else f"{found[0]} "


def _is_allowed(url: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = parts.username is None and "\\" not in url and "@" not in parts.netloc
    return parts.scheme == "https" and plain and parts.hostname in hosts

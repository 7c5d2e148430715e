"""Which names a blob may have: the same few on every store, so that data can move between them."""

import re

from data_models.errors import InvalidIdentifierError

NAME_LIMIT_CHARS = 1_024
SEGMENT_LIMIT_CHARS = 255
# No leading dot (hidden files, `.` and `..`), no trailing dot (Windows and Azure drop it), no
# colon, backslash, blank or control character: one of those makes a whole container unlistable.
_SEGMENT = r"[A-Za-z0-9_~%-](?:[A-Za-z0-9._~%-]*[A-Za-z0-9_~%-])?"
_NAME = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")


def is_blob_name(name: str) -> bool:
    """Tell whether `name` is a legal blob name."""
    if len(name) > NAME_LIMIT_CHARS or not _NAME.fullmatch(name):
        return False
    return max(map(len, name.split("/"))) <= SEGMENT_LIMIT_CHARS


def checked_blob_name(name: str) -> str:
    """Return `name` if it is a legal blob name.

    Raises:
        InvalidIdentifierError: over 1,024 characters, a segment over 255, or one that is empty,
            begins or ends with a dot or holds anything but ASCII letters, digits and `._~%-`.
    """
    if not is_blob_name(name):
        raise InvalidIdentifierError(
            kind="blob name", expected="safe ASCII segments of 1 to 255 characters, 1,024 in all"
        )
    return name


def checked_blob_prefix(prefix: str) -> str:
    """Return `prefix` if it is a legal blob name and a final `/` (`conv1/` is not `conv10/`).

    Raises:
        InvalidIdentifierError: anything else.
    """
    if not (prefix.endswith("/") and is_blob_name(prefix[:-1])):
        raise InvalidIdentifierError(kind="blob prefix", expected="a blob name and a final slash")
    return prefix

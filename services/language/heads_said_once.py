"""The head of a name that is said once for several: "hep A and B". Pure."""

from collections.abc import Callable, Collection, Iterator, Sequence

_SHORT_CHARS = 2
_BEFORE = 3


def with_heads(
    tokens: Sequence[str], known: Callable[[Sequence[str]], object], joints: Collection[str]
) -> Iterator[str]:
    """Yield `tokens` with the head before each that makes a known name with it alone."""
    for at, token in enumerate(tokens):
        before = tokens[max(0, at - _BEFORE) : at]
        if len(before) == _BEFORE and len(token) <= _SHORT_CHARS and before[2] in joints:
            head = before[0]
            if known([head, before[1]]) and known([head, token]):
                yield head
        yield token

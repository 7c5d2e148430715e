"""The beginning of a message that is not shown before it is clear what it is."""

from services.language.hand_over import PROMISE_LIMIT_CHARS


class HeldText:
    """Holds a message back while it may be no more than the promise of a hand-over."""

    def __init__(self) -> None:
        self._text = ""
        self._is_released = False

    @property
    def text(self) -> str:
        """What is held."""
        return self._text

    def take(self, text: str) -> str:
        """Return what may be shown now: all, once the message is too long for a promise."""
        if self._is_released:
            return text
        self._text += text
        if len(self._text) <= PROMISE_LIMIT_CHARS:
            return ""
        self._is_released = True
        released, self._text = self._text, ""
        return released

"""The beginning of a message that may be no more than a promise."""

from services.language.model_output.hand_over import PROMISE_LIMIT_CHARS


class HeldText:
    """Holds a message back while it may be no more than the promise of a hand-over."""

    def __init__(self) -> None:
        self.text = ""
        """What is held."""
        self.calls = 0
        """How many tools had been called when the last of it was said."""
        self._is_released = False

    def take(self, text: str, *, calls: int) -> str:
        """Return what may be shown now: all, once the message is too long for a promise."""
        if self._is_released:
            return text
        is_apart = calls != self.calls and bool(self.text.strip())
        self.text += f"\n\n{text.lstrip()}" if is_apart else text
        self.calls = calls
        if len(self.text) <= PROMISE_LIMIT_CHARS:
            return ""
        self._is_released = True
        released, self.text = self.text, ""
        return released

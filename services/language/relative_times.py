"""Whether a value means something only together with the time at which it was said. Pure."""

from typing import Any

from services.language.phrases import says


def is_relative_value(value: Any) -> bool:
    """Whether `value` is text such as "tomorrow", "next Friday" or "in zwei Tagen"."""
    return isinstance(value, str) and says(value, "relative_time")

"""What users mean by a day. Pure."""

import re
from datetime import date, datetime, timedelta

from data_models.errors import ToolInputError

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def day_of(text: str, *, now: datetime) -> date:
    """Return the day that `text` means, said `now`.

    Raises:
        ToolInputError: it is no day; the text says what is one.
    """
    said = re.sub(r"^(on|next|this) ", "", text.strip().casefold())
    today = now.date()
    named = {"today": 0, "tomorrow": 1, "day after tomorrow": 2, "the day after tomorrow": 2}
    if said in named:
        return today + timedelta(days=named[said])
    if said in _DAYS:
        return today + timedelta(days=(_DAYS.index(said) - today.weekday() - 1) % 7 + 1)
    try:
        return date.fromisoformat(said[:10])
    except ValueError:
        raise ToolInputError("the day must be today, tomorrow, a weekday or YYYY-MM-DD") from None

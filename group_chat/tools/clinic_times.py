"""What users mean by a day. Pure."""

from datetime import date, datetime, timedelta

from data_models.errors import ToolInputError
from services.language.in_english import in_english
from services.language.phrases import says
from services.language.pointing.when import when_of


def day_of(text: str, *, now: datetime) -> date:
    """Return the day that `text` means, said `now`; a weekday is the next one after today.

    Raises:
        ToolInputError: it is no day; the text says what is one.
    """
    said = when_of(text, now)
    if said is None or said.first is None:
        raise ToolInputError("the day must be today, tomorrow, a weekday or YYYY-MM-DD")
    is_weekday = says(in_english(text), "day_of_week") and not says(text, "today")
    return said.first + timedelta(days=7 if is_weekday and said.first == now.date() else 0)

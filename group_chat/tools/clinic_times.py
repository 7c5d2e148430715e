"""What users mean by a day. Pure."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from data_models.errors import ToolInputError
from services.language.in_english import in_english
from services.language.phrases import says
from services.language.pointing.when import when_of

_WORKDAYS = 5


def days_of(text: str, *, now: datetime) -> Sequence[date]:
    """Return the day that `text` means, said `now`, or the working days ahead of a week.

    A weekday is the next one after today; one of a week that is named is that week's.

    Raises:
        ToolInputError: it is no day; the text says what is one.
    """
    said = when_of(text, now)
    if said is None or said.first is None or said.last is None:
        raise ToolInputError("the day must be today, tomorrow, a weekday or YYYY-MM-DD")
    is_weekday = says(in_english(text), "day_of_week") and not says(text, "today")
    if said.first == said.last:
        return [said.first + timedelta(days=7 if is_weekday and said.first == now.date() else 0)]
    days = [said.first + timedelta(days=number) for number in range(_WORKDAYS)]
    ahead = [day for day in days if now.date() <= day <= said.last]
    english = in_english(text).casefold()
    return [day for day in ahead if f"{day:%A}".casefold() in english] or ahead

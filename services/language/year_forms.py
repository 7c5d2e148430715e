"""Years and months that are written with a sign, in the forms that are read. Pure."""

import re

_TWO_YEARS = re.compile(r"(?<![\d/.])((?:19|20)\d\d)/((?:19|20)\d\d)(?![\d/])")
_MONTH_AND_YEAR = re.compile(r"(?<![\d/.])(0[1-9]|1[0-2])[/.]((?:19|20)\d\d)(?![\d/])")


def with_plain_years(text: str) -> str:
    """Return `text` with "2019/2020" as 2019-2020, and "03/2019" as 2019-03."""
    return _TWO_YEARS.sub(r"\1-\2", _MONTH_AND_YEAR.sub(r"\2-\1", text))

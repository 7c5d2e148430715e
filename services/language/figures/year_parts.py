"""Parts of years that a message names: "winter 2018", "first half of 2019". Pure."""

import re
from collections.abc import Mapping
from datetime import date, timedelta

from services.language.utterance import TimeSpan

SEASON_MONTHS = 3
_YEAR = r"(?:19|20)\d\d"


class YearParts:
    """The parts of years of one language."""

    def __init__(
        self,
        *,
        parts: Mapping[str, tuple[int, int]],
        months: Mapping[str, int],
        since: str,
        within: str,
        last: str,
        this: str,
    ) -> None:
        """Take expressions for what stands before a part.

        Args:
            parts: Of each part, folded, the month in which it begins and how many it has.
            months: The months, of which "last August" is the last that is over.
        """
        self._parts = {**{name: (number, 1) for name, number in months.items()}, **parts}
        named = "|".join(map(re.escape, sorted(parts, key=len, reverse=True))) or r"(?!)"
        last_named = "|".join(map(re.escape, sorted(self._parts, key=len, reverse=True)))
        begins = rf"(?<!\w)(?:(?P<since>{since}) )?{within}"
        of_year = rf"(?: (?:des|von|vom))? {within}(?P<year>{_YEAR})(?!\w)"
        self._forms = (
            re.compile(rf"{begins}(?P<part>{named}){of_year}"),
            re.compile(
                rf"{begins}(?:(?P<last>{last})|{this}) (?P<part>{last_named})(?P<year>)"
                r"(?![\w.]|,? \d)"
            ),
        )

    def spans_in(self, text: str, *, today: date) -> tuple[list[TimeSpan], str]:
        """Return the days of the parts that folded `text` names, and the text without them."""
        found: list[TimeSpan] = []

        def take(match: re.Match[str]) -> str:
            found.append(self._span(match, today))
            return " "

        for form in self._forms:
            text = form.sub(take, text)
        return found, text

    def _span(self, match: re.Match[str], today: date) -> TimeSpan:
        month, count = self._parts[match["part"]]
        behind = month + count - 1
        # "Last winter" is the last one that is over, "this winter" the last that has begun.
        begun = today.year - (month > today.month)
        is_last = bool(match.groupdict().get("last")) and not match["since"]
        goes_on = begun * 12 + behind > today.year * 12 + today.month - 1
        year = int(match["year"] or begun - (is_last and goes_on))
        end = date(year + behind // 12, behind % 12 + 1, 1) - timedelta(days=1)
        until = None if match["since"] else end
        return TimeSpan(date(year, month, 1), until, match[0].strip())

"""Who a patient is to whoever looks at a screen, a card, a file or a prompt (spec page 10.3)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

_LIMIT_CHARS = 120
_MARKS = str.maketrans("`*_[]<>|#\\", " " * 10)


class PatientIdentity(NamedTuple):
    """Name and birth date as recorded, and the sex; every text is inert and one line."""

    name: str
    birth_date: str
    sex: str

    @property
    def label(self) -> str:
        """Both identifiers, as in `Margaret Anne Whitfield, born 1957-03-14`."""
        born = f"born {self.birth_date}" if self.birth_date else "birth date unknown"
        return f"{self.name or 'no name recorded'}, {born}"


def identity_noted(facts: Mapping[str, Any]) -> PatientIdentity | None:
    """Return who a roster's row says the patient is; None where nothing was noted."""
    name, birth_date = _line(facts.get("name")), _line(facts.get("birth_date"))
    if not name and not birth_date:
        return None
    return PatientIdentity(name, birth_date, _line(facts.get("sex")))


@lru_cache(maxsize=1_000)
def _line(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return " ".join(text.translate(_MARKS).split())[:_LIMIT_CHARS]

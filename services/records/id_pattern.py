"""Whether an identifier fits the operator's pattern of patient ids."""

import re
from collections.abc import Callable

from data_models.errors import ConfigurationError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS


def id_fits(source: str) -> Callable[[str], bool]:
    """Return whether a text is an id after `PATIENT_ID_PATTERN`; it is probed elsewhere.

    Raises:
        ConfigurationError: `source` is no regular expression.
    """
    try:
        compiled = re.compile(source, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        raise ConfigurationError("PATIENT_ID_PATTERN is no regular expression") from None
    # The length first: it bounds the work on hostile text.
    return lambda text: len(text) <= PATIENT_ID_LIMIT_CHARS and compiled.fullmatch(text) is not None

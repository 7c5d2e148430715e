"""`app.py` of a coming release: documents of version 3, with a field that today's servers lack.

Run with `python -m`. `TOMORROW_MIN_READER=3` is the release after: today's servers must not read
what it writes.
"""

import os
import sys
from typing import Any, ClassVar

from data_models import values

NOTE = "written tomorrow"
_MIN_READER = int(os.environ.get("TOMORROW_MIN_READER", "2"))


class DocumentOfTomorrow(values.Document):
    """A document as every model will inherit it."""

    SCHEMA_VERSION: ClassVar[int] = 3

    schema_version: int = 3
    min_reader: int = _MIN_READER
    tomorrow: str = NOTE


class _EveryModel(dict[str, Any]):
    """The one step that leads up, whatever the model is called."""

    def get(self, key: str, default: object = None) -> object:
        return {2: _with_note}

    def __getitem__(self, key: str) -> object:
        return {2: _with_note}


def _with_note(old: values.Json) -> values.Json:
    return {**old, "tomorrow": NOTE, "min_reader": _MIN_READER}


if __name__ == "__main__":
    # Before anything else imports it: all models are then made of this one.
    vars(values)["Document"] = DocumentOfTomorrow
    vars(values)["STEPS"] = _EveryModel()
    from app import main

    sys.exit(main())

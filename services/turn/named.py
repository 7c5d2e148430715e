"""Patients whom a message names by name. An answer about another would be read as theirs."""

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping

import structlog

from data_models.errors import RecordsError
from data_models.identifiers import PatientId
from services.records.patient_names import PatientNames
from services.tool_memory.privacy import names_other, words_of

WAIT_SECONDS = 1.0
# Who treats a patient may be called as another is.
_STAFF = re.compile(
    r"\b(?i:drs?|doctors?|prof|professor|nurse)\b\.?\s+(?:[^\W\d_a-z][\w'’-]*\s?){1,3}"
)
_WORD = re.compile(
    r"(?P<title>\b(?i:mrs?|ms|miss|herr|frau)\b\.?\s+)?(?P<word>[^\W\d_]+)(?P<own>['’]s\b)?"
)
_SURNAME_LEAST_CHARS = 4
# Words that begin a clinician's sentence, and family names.
_SAID_TEXT = """
    blood bone bones burn burns cast core cyst gross lump mass mole moles more most none pain pains
    rash scan stage stent than that then they this very what when will with your
"""
_SAID = frozenset(_SAID_TEXT.split())
# Whether somebody is registered is asked by their name, whoever is active.
_REGISTERING = re.compile(r"(?i)\bregist(?:er|ra)")

logger = structlog.get_logger()


class NamedPatients:
    """A `RosterNames` over the names of the records, which are kept for some minutes."""

    def __init__(self, *, names: PatientNames, wait_seconds: float = WAIT_SECONDS) -> None:
        self._names = names
        self._wait_seconds = wait_seconds
        self._reading: set[asyncio.Task[Mapping[PatientId, frozenset[str]]]] = set()

    async def named_in(
        self, text: str, *, among: Collection[PatientId], active: PatientId
    ) -> Collection[PatientId]:
        """See `RosterNames.named_in`."""
        if _REGISTERING.search(text) or not among:
            return ()
        said = _STAFF.sub(" ", text)
        known = await self._known(among, active)
        return [one for one in among if _is_named(said, known.get(one, frozenset()))]

    async def _known(
        self, among: Collection[PatientId], active: PatientId
    ) -> Mapping[PatientId, frozenset[str]]:
        # What takes longer is read to its end, for the turns to come.
        reading = asyncio.create_task(self._names.of_each(among, active=active))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        await asyncio.wait({reading}, timeout=self._wait_seconds)
        if not reading.done():
            reading.add_done_callback(_look_at)
            logger.warning("patient_names_late")
            return {}
        try:
            return reading.result()
        except RecordsError as error:
            logger.warning("patient_names_unread", code=error.code)
            return {}


def _is_named(text: str, forms: frozenset[str]) -> bool:
    alone = frozenset(one for one in forms if len(words_of(one)) == 1 and one.isalpha())
    if names_other({"text": text}, forms - alone):
        return True
    return any(names_other({"word": word}, alone) for word in _surnames(text))


def _surnames(text: str) -> Iterator[str]:
    """Yield the words of a text that are written as people write a family name alone.

    Many a family name is a word too, such as Do, He or Gross.
    """
    for found in _WORD.finditer(text):
        word = found["word"]
        is_capital = word[0].isupper() and word.casefold() not in _SAID
        if found["title"] or (len(word) >= _SURNAME_LEAST_CHARS and (is_capital or found["own"])):
            yield word


def _look_at(reading: "asyncio.Task[Mapping[PatientId, frozenset[str]]]") -> None:
    if not reading.cancelled():
        reading.exception()  # the next turn reads again and says so

"""Salts that German writes as one word with the drug: Metoprololsuccinat, Levothyroxin-Natrium."""

import re

_SALTS = (
    "besilat|besylat|dimaleat|fumarat|hemifumarat|hydrobromid|hydrochlorid|maleat|mesilat|"
    "succinat|tartrat|tosilat"
)
_JOINED = re.compile(
    rf"(?i)(?:(?<=[a-z]{{5}})-?(?P<salt>{_SALTS})"
    r"|(?<=[a-z]{3}(?:in|ol|ac|an|om|en))-?(?:di)?(?:natrium|kalium))\b"
)


def with_salts_apart(text: str) -> str:
    """Return `text` with each salt as a word of its own, and without the metals of salts."""
    return _JOINED.sub(lambda found: f" {found['salt']}" if found["salt"] else "", text)

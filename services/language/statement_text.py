"""A sentence made ready to be read: `CEA-Wert` as two words, a list item without its label."""

import re
from collections.abc import Sequence
from functools import cache

from services.language.name_kinds import kind_of_name
from services.language.statement_parts import WORD
from services.language.statement_tables import saying, statement_files, stem
from services.language.statement_words import is_clinical_name, statement_words

_COMPOUND = re.compile(
    r"(?i)\b(?!labor|leber|durch|ein|aus|zusammen|um|ab|nieren|blut|grenz|norm|ziel|richt|mess|schutz|auffrisch)"
    r"(?P<what>[^\W_]{4,})-?(?P<last>allergien?|impfung(?:en)?|wert(?:e|s)?|spiegel|fraktur(?:en)?|bruch|brüche|arthrosen?|verletzung(?:en)?|verstauchung(?:en)?|distorsion(?:en)?|prellung(?:en)?|messung(?:en)?|kultur(?:en)?|operation(?:en)?)\b"
)
_JOINED = re.compile(
    r"(?i)(?<=[^\W_]{2}|-[a-z])(?<!\bnon)(?<!\bwild)-"
    r"(?=(?:erkrankung|krankheit|wert|werte|spiegel|test|impfung|impfungen|infektion|dosis|dosierung|stadium|stage|therapie|therapy|behandlung|gabe|einnahme|kontrolle"
    r"|score|specific|spezifische[smnr]?|related|associated|induced|assoziierte[smnr]?|bedingte[smnr]?|induzierte[smnr]?|levels?|positi[vf]e?|negati[vf]e?|mutated|mutant|mutiert(?:e[smnr]?)?|amplified"
    r"|rearranged|wild-?type|wildtyp)\b)"
)
_LEAD = re.compile(
    r"(?i)\b(?P<lead>kontroll|verlaufs|vorsorge|nachsorge|wiederholungs|folge|langzeit|erst|aufnahme|entlassungs"
    r"|basis|therapie|behandlungs)-?(?P<what>[^\W\d_]{5,})"
)
_BEYOND = re.compile(
    r"(?i)\b(?:(?P<low>below|under|unter)|above|over|über) (?:the|den|dem) "
    r"(?=\d[\d.,/]* ?\S* (?:of|from|measured|at|in|on|vom|von|bei|im|am)\b)"
)
_PARTED_VERB = re.compile(
    r"(?i)\b(?P<verb>nahm|klang|heilte)(?:en)?\b(?P<what>(?: [^\s;]+){1,12}?)"
    r" (?P<part>zu|ab|aus)(?=[.,;)]|\Z| und | sowie )"
)
_PURPOSE = re.compile(r" [–—] (?=(?:for|due to|gegen|wegen|bei) )")
_GRADE = re.compile(r"(?<![\w-])G(?P<grade>[1-4])(?![\w.])")
_SPEAKING = re.compile(r"\b(?P<tongue>[A-Z][a-z]+)-speaking\b")
_HYPHENED = re.compile(r"(?<![\w/-])(?P<one>[^\W\d_]{4,})-(?P<other>[^\W\d_]{5,})(?![\w-])")
_LABEL = re.compile(
    r"(?P<item>\s*(?:[-*•+]|\d{1,3}[.)])\s+)(?P<label>\*{0,2}[^:|*\d]{3,40}(?::\*{0,2}|\*\*:))\s+(?=\S)"
)


def parted(text: str) -> str:
    """Return `text` with `CEA-Wert`, `KRAS-mutated` and `Penicillinallergie` as two words each."""
    if "-" in text:
        text = _HYPHENED.sub(_of_two_names, _JOINED.sub(" ", text))
        text = _SPEAKING.sub(r"speaks \g<tongue>", text)
    lower = text.lower()
    for said, meant in _in_other_words():
        if said in lower:
            text = re.sub(re.escape(said), meant, text, flags=re.IGNORECASE)
    lower = text.lower()
    text = _LEAD.sub(_behind_lead, _PARTED_VERB.sub(r"\g<what> \g<part>\g<verb>", text))
    text = _restated(text, lower)
    if any(map(lower.__contains__, saying("last_parts"))):
        text = _COMPOUND.sub(r"\g<what> \g<last>", text)
    return text


@cache
def _in_other_words() -> Sequence[tuple[str, str]]:
    """Return what sentences may say, with the words by which it is compared."""
    files = [one.get("restated", {}) for one in statement_files()]
    return [(said.lower(), meant) for one in files for said, meant in one.items()]


def _restated(text: str, lower: str) -> str:
    """Return what is told in other words as it is compared: "below the obesity threshold"."""
    if " the " in lower or " den " in lower or " dem " in lower:
        text = _BEYOND.sub(_than, text)
    text = _PURPOSE.sub(" ", text) if "–" in text or "—" in text else text
    if "G" in text:
        text = _GRADE.sub(r"grade \g<grade>", text)
    if ": " in text:
        text = _behind_count(text)
    return text


def _than(found: re.Match[str]) -> str:
    """Return "lower than the 38 of July" for "below the 38 of July"."""
    return f"{'lower' if found['low'] else 'higher'} than the "


def _behind_count(text: str) -> str:
    """Return "two admissions: in 2012 for …" with a dash: what is counted, and each of it."""
    head, _, rest = text.partition(": ")
    known, words = statement_words(), head.lower().split()
    is_counted = any(one in known.numbers for one in words) and known.counted.keys() & {*words}
    return f"{head} – {rest}" if is_counted else text


def _behind_lead(found: re.Match[str]) -> str:
    """Return two words for one that says when what it names was done: `Kontrollkoloskopie`."""
    what, known = stem(found["what"]), statement_words()
    is_named = what in known.translated or what in known.named or is_clinical_name(what)
    is_named = is_named and found.group().lower() not in known.phrases
    return f"{found['lead']} {found['what']}" if is_named else found.group()


def _of_two_names(found: re.Match[str]) -> str:
    """Return two names for one with a hyphen: `amoxicillin-clavulanate`."""
    is_of_two = any(_names_alone(found[part]) for part in ("one", "other"))
    return f"{found['one']} {found['other']}" if is_of_two else found.group()


def _names_alone(word: str) -> bool:
    """Whether a word is a whole name: the apnea of `Schlafapnoe-Syndrom`."""
    named = statement_words().concepts.get(stem(word), ())
    return is_clinical_name(stem(word)) or any(len(one.words) == 1 for one in named)


def without_label(text: str) -> str | None:
    """Return a list item without the label before its colon; None where none is only a heading."""
    found = _LABEL.match(text)
    if found is None or _is_claim(found["label"]):
        return None
    return f"{found['item']}{text[found.end() :]}"


def _is_claim(label: str) -> bool:
    """Whether a label is itself a claim: the name of an illness or a drug, "current", "no"."""
    words = [word.lower() for word in WORD.findall(label) if word[0].isalpha()]
    said = {tag for one in statement_words().found_in(words) for tag in one.tags}
    is_cue = any(not tag.startswith(("same:", "means:", "topic:")) for tag in said)
    return is_cue or any(kind_of_name(stem(word)) for word in words)

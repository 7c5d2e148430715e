"""Reads what a sentence of an agent states of a patient; what is true of it, rows say."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from services.language.charts.salts import with_salts_apart
from services.language.figures.numbers_in_words import with_digits
from services.language.figures.quantities import quantities_in
from services.language.sentences import statement_parts
from services.language.sentences.clause_reader import ClauseReader
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.sentences.statement_numbers import days_in
from services.language.words.statement_phrases import named_by
from services.language.words.statement_tables import read_names, saying, statement_files, stem
from services.language.words.statement_words import is_clinical_name, statement_words

_COMPOUND = re.compile(
    r"(?i)\b(?!labor|leber|durch|ein|aus|zusammen|um|ab|nieren|blut|grenz|norm|ziel|richt|mess|schutz|auffrisch)"
    r"(?P<what>[^\W_]{4,})-?(?P<last>allergien?|impfung(?:en)?|wert(?:e|s)?|spiegel|fraktur(?:en)?|bruch|brüche|arthrosen?|verletzung(?:en)?|verstauchung(?:en)?|distorsion(?:en)?|prellung(?:en)?|messung(?:en)?|kultur(?:en)?|operation(?:en)?|implantation(?:en)?|entfernung(?:en)?)\b"
)
_JOINED = re.compile(
    r"(?i)(?<=[^\W_]{2}|-[a-z])(?<!\bnon)(?<!\bwild)-"
    r"(?=(?:erkrankung|krankheit|wert|werte|spiegel|test|impfung|impfungen|infektion|dosis|dosierung|stadium|stage|therapie|therapy|behandlung|gabe|einnahme|kontrolle"
    r"|score|specific|spezifische[smnr]?|related|associated|induced|assoziierte[smnr]?|bedingte[smnr]?|induzierte[smnr]?|levels?|positi[vf]e?|negati[vf]e?|mutated|mutant|mutiert(?:e[smnr]?)?|amplified"
    r"|rearranged|wild-?type|wildtyp)\b)"
)
_LEADING = re.compile(
    r"(?i)\b(?P<lead>kontroll|verlaufs|vorsorge|nachsorge|wiederholungs|folge|langzeit|erst|aufnahme|entlassungs"
    r"|basis|ausgangs|anfangs|therapie|behandlungs)-?(?P<what>[^\W\d_]{5,})"
)
_BEYOND = re.compile(
    r"(?i)\b(?:(?P<low>below|under|unter)|above|over|über|exceed(?:s|ed)) (?:(?:the|den|dem) "
    r"(?=\d[\d.,/]* ?\S* (?:of|from|measured|at|in|on|vom|von|bei|im|am)\b)"
    r"|(?:that|(?:the|dem) (?:value|level|wert)s?) (?=(?:of|from|in|vom|von|aus|im) [12A-Z]))"
)
_PARTED_VERB = re.compile(
    r"(?i)\b(?P<verb>nahm|klang|heilte)(?:en)?\b(?P<what>(?: [^\s;]+){1,12}?)"
    r" (?P<part>zu|ab|aus)(?=[.,;)]|\Z| und | sowie )"
)
_NO_MORE = re.compile(r"(?i)\bkeine?n? (?P<what>[^\W\d_][\w-]{2,}) mehr\b")
_EMPTY = re.compile(
    r"(?<=\w):? {0,2}(?:\[ ?\]|\{ ?\}|[∅❌✗✘✖🚫⛔]\ufe0f?|(?<=: )[–—-])(?=[ .*]{0,4}$)"
)  # "Allergies: –", "Allergies ❌"
_COURSE = re.compile(r"(?i)\bde (\d[\d.,]*(?: ?[^\W\d]\S{0,8})?) [àa] (?=\d)")  # "de 22,5 à 4,0"
_PURPOSE = re.compile(r" [–—] (?=(?:for|due to|gegen|wegen|bei) )")
_SPEAKING = re.compile(r"\b(?P<tongue>[A-Z][a-z]+)-speaking\b")
_HYPHENED = re.compile(r"(?<![\w/-])(?P<one>[^\W\d_]{4,})-(?P<other>[^\W\d_]{5,})(?![\w-])")
_GRADE = re.compile(r"\b(grade [1-4])-(?=[^\W\d_]{4})")  # `G2-Adenokarzinom`, read as "grade 2"
_BEGINNING = 3
_ACIDS = read_names()["amino_acids"]
_PROTEIN = re.compile(r"\b(?:p\.)?(ACID)(\d+)(ACID)\b".replace("ACID", "|".join(_ACIDS)))  # `V600E`
_LABEL = re.compile(
    r"(?P<item>\s*(?:[-*•+]|\d{1,3}[.)])\s+)(?P<label>\*{0,2}[^:|*\d]{3,40}(?::\*{0,2}|\*\*:))\s+(?=\S)"
)


def parted(text: str) -> str:
    """Return `text` with `CEA-Wert`, `KRAS-mutated` and `Penicillinallergie` as two words each."""
    text = _PROTEIN.sub(lambda one: f"{_ACIDS[one[1]]}{one[2]}{_ACIDS[one[3]]}", text)
    if "-" in text:
        text = _GRADE.sub(r"\1 ", text)
        text = _HYPHENED.sub(_of_two_names, _JOINED.sub(" ", text))
        text = _SPEAKING.sub(r"speaks \g<tongue>", text)
    lower, rows = text.lower(), _in_other_words()
    begins = {*lower, *map("".join, zip(*(lower[at:] for at in range(_BEGINNING)), strict=False))}
    found = (row for one in begins & rows.keys() for row in rows[one] if row[1] in lower)
    for _, said, meant in sorted(found):
        text = re.sub(re.escape(said), meant, text, flags=re.IGNORECASE)
    lower = text.lower()
    text = _LEADING.sub(_behind_lead, _PARTED_VERB.sub(r"\g<what> \g<part>\g<verb>", text))
    text = _COURSE.sub(r"from \1 to ", _EMPTY.sub(": none", _restated(text, lower)))
    text = _NO_MORE.sub(r"\g<what> nicht mehr", text) if " mehr" in lower else text
    if any(map(lower.__contains__, saying("last_parts"))):
        text = _COMPOUND.sub(r"\g<what> \g<last>", text)
    return text


@cache
def _in_other_words() -> Mapping[str, Sequence[tuple[int, str, str]]]:
    """Return what sentences may say, with the words by which it is compared, by how it begins."""
    files = [one.get("restated", {}) for one in statement_files()]
    found: dict[str, list[tuple[int, str, str]]] = {}
    for place, (said, meant) in enumerate(row for one in files for row in one.items()):
        found.setdefault(said[:_BEGINNING].lower(), []).append((place, said.lower(), meant))
    return found


def _restated(text: str, lower: str) -> str:
    """Return what is told in other words as it is compared: "below the obesity threshold"."""
    if any(f" {one} " in lower for one in ("the", "that", "den", "dem")):
        # "lower than the 38 of July" for "below the 38 of July"
        text = _BEYOND.sub(lambda one: f"{'lower' if one['low'] else 'higher'} than the ", text)
    text = _PURPOSE.sub(" ", text) if "–" in text or "—" in text else text
    return _behind_count(text) if ": " in text else text


def _behind_count(text: str) -> str:
    """Return "two admissions: in 2012 for …" with a dash: what is counted, and each of it.

    And "The anemia has resolved: hemoglobin rose" with a semicolon: two facts.
    """
    head, _, rest = text.partition(": ")
    known, words = statement_words(), head.lower().split()
    if any(one in known.numbers for one in words) and known.counted.keys() & {*words}:
        return f"{head} – {rest}"
    said = {tag for one in known.found_in(words) for tag in one.tags}
    is_named = any(one.startswith("same:") for one in said) or any(map(_names_alone, words))
    return f"{head}; {rest}" if is_named and "asserts" in said else text


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
    words = [word.lower() for word in statement_parts.WORD.findall(label) if word[0].isalpha()]
    said = {tag for one in statement_words().found_in(words) for tag in one.tags}
    is_cue = any(not tag.startswith(("same:", "means:", "topic:")) for tag in said)
    return is_cue or any(kind_of_name(stem(word)) for word in words)


_ASIDES = re.compile(r"\([^)]*\)")
_HEAD_WORDS = 5
_LISTED_WORDS = 3


def listed_in(body: str, *, is_item: bool) -> tuple[tuple[str, ...], ...]:
    """Return what a list item begins with, or each thing behind `Medications:`."""
    head, colon, rest = body.partition(":")
    if is_item:
        parts = [head]
    elif colon and len(head.split()) <= _HEAD_WORDS and rest.strip():
        parts = re.split(r"[,;]\s", _ASIDES.sub("", rest))
    else:
        return ()
    return tuple(found for part in parts if (found := _first_words(part)))


def _first_words(text: str) -> tuple[str, ...]:
    vocabulary = statement_words()
    found: list[str] = []
    for word in statement_parts.WORD.findall(text):
        lower = word.lower()
        is_cue = lower in vocabulary.fillers or lower in vocabulary.phrases
        if lower in vocabulary.numbers:
            break  # "two doses" is none of the things
        if is_cue and not found and word[0].isalpha():
            continue
        is_end = not word[0].isalpha() or lower in vocabulary.months
        if is_cue or is_end or len(found) == _LISTED_WORDS:
            if is_cue and any(map(named_by, vocabulary.phrases.get(lower, ()))):
                found.append(stem(lower))  # "persistent atrial fibrillation"
            break
        found.append(stem(lower))
    return tuple(found)


_BRACKETS = re.compile(
    rf"[\[(]\s*(?:[Ss]ources?:?\s*)?(?:{statement_parts.SOURCE_TYPE}[\w.-]+(?:\s*[,;]\s*)?)+\s*[\])]"
)
_CELL_EDGE = re.compile(r"\s*\|\s*")
_MARKS = re.compile(r"[_`~#|\"“”„]+|(?<!\d)\*+|\*+(?!\d)|^\s*>+")
_DIGIT = re.compile(r"\d")
_LEAD = re.compile(r"\s*(?:(?P<item>[-*•+]|\d{1,3}[.)])\s+|(?P<heading>#{1,6})\s|(?P<row>\|))")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as read.

    Attributes:
        refs: Source ids that it names.
        is_item: Whether it is a list item or a row of a table: naming something states it.
        is_heading: Whether what follows in lists is about it.
        is_question: Whether it asks.
        asks: Whether it tells somebody to do something.
        listed: Stems of the first words of each thing that it lists, whatever they are.
        short_names: Stems of what is written in capitals: `HPV`.
        hyphened: For stems of words with hyphens those of their parts: `two-dose`.
        reader: Reads parts of it once more, where it is to be cut otherwise.
    """

    text: str
    clauses: tuple[Clause, ...] = ()
    refs: tuple[str, ...] = ()
    is_item: bool = False
    is_heading: bool = False
    is_question: bool = False
    asks: bool = False
    cues: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    listed: tuple[tuple[str, ...], ...] = ()
    short_names: frozenset[str] = frozenset()
    hyphened: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reader: ClauseReader | None = field(default=None, compare=False, repr=False)


def read_sentence(text: str, *, is_name: Callable[[str], bool] = is_clinical_name) -> Sentence:
    """Return what `text`, one sentence, states.

    What stands before the colon of a list item is its heading, where what follows has a name.

    Args:
        is_name: Whether a stem names something that can be stated of a patient.
    """
    text = with_salts_apart(text)
    if (rest_of_item := without_label(text)) is not None:
        rest = _read(rest_of_item, is_name)
        if rest.clauses and rest.clauses[0].names and "no" not in rest.cues:
            return replace(rest, text=text)
    return _read(text, is_name)


def _read(text: str, is_name: Callable[[str], bool]) -> Sentence:
    lead = _LEAD.match(text)
    refs = refs_in(text)
    body = parted(with_digits(text[lead.end() :] if lead else text))
    if refs:
        body = statement_parts.REFERENCE.sub(
            statement_parts.blank, _BRACKETS.sub(statement_parts.blank, body)
        )
    body = _MARKS.sub(statement_parts.blank, _CELL_EDGE.sub(" ", body) if "|" in body else body)
    plain = body.rstrip()
    has_numbers = _DIGIT.search(body) is not None
    dates = list(days_in(body)) if has_numbers else []
    shown = statement_parts.masked(body, [(one.start, one.end) for one in dates])
    quantities = quantities_in(shown) if has_numbers else []
    words = [(one.start(), one[0]) for one in statement_parts.WORD.finditer(shown)]
    reader = ClauseReader(words=words, dates=dates, quantities=quantities, is_name=is_name)
    clauses = reader.clauses()
    is_item = bool(lead and (lead["item"] or lead["row"]))
    first = next((word.lower() for _, word in words if word[0].isalpha()), "")
    return Sentence(
        text=text,
        clauses=tuple(clauses),
        refs=refs,
        is_item=is_item,
        is_heading=bool(lead and lead["heading"])
        or plain.endswith(":")
        or statement_parts.is_bold(text),
        is_question=plain.endswith("?"),
        asks=first in statement_words().imperatives and "of" not in [w for _, w in words[1:2]],
        cues=frozenset().union(*[one.cues for one in clauses]),
        words=frozenset().union(*[one.words for one in clauses]),
        short_names=frozenset(
            stem(one) for _, one in words if one.isupper() and one.isalpha() and len(one) > 2
        ),
        hyphened={
            stem(one): frozenset(stem(part) for part in one.split("-") if len(part) > 1)
            for _, one in words
            if "-" in one
        },
        reader=reader,
        listed=listed_in(plain, is_item=is_item),
    )


def refs_in(text: str) -> tuple[str, ...]:
    """Return the source ids that `text` names, each once, from the left."""
    return tuple(dict.fromkeys(one.rstrip(".-") for one in statement_parts.REFERENCE.findall(text)))

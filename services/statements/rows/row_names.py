"""By which words people speak of what a row of a view is about, and whether it is so. Pure."""

import re
from functools import lru_cache
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.language.words.same_names import group_of
from services.language.words.statement_tables import stem
from services.language.words.statement_words import statement_words
from services.records.concepts.table import concept_table, rows_called
from services.records.concepts.words import words_of
from services.records.resources.standing import ABSENCES, DOUBTFUL, FORBIDDEN, NOT_YET
from services.records.rows.finding import classes_of_drug, holds
from services.records.rows.measurements import NOT_PATIENTS
from services.statements.rows.one_of_several import DONE_ONCE
from services.statements.rows.rows import Standing, clause_of, stems_of

_STANDING: dict[str, Standing] = {
    word: standing
    for standing, words in read_yaml(Path(__file__).with_name("standing.yaml").read_bytes()).items()
    for word in words
} | {FORBIDDEN: "absent"}
OF_NONE = frozenset({"no", "known", "current", "previous", "history", "information", "about"})
"""Words of what states an absence that say not of what."""
_VACCINE_CHARS = 4
"""Shorter are names of other vaccines against the same: DTaP is no Tdap."""
_BYGONE = (frozenset({"personal", "history"}), frozenset({"zustand", "nach"}))
_BROKEN_OFF = frozenset({"stopped", "on-hold"})


_LONG_NAME = 8
DIAGNOSES = frozenset({"encounter diagnosis", "health concern", "diagnosis"})
"""By their standing and days these are problems."""
_CORE = re.compile(r"^[^\[(/,]+")


def core_for(row: ViewRow) -> frozenset[str]:
    """Return the stems by which people know the thing of a row; of an absence what is absent.

    Of a value with a code that the table of concepts knows it is what the code means, whatever
    the record calls it: "Blood pressure panel with all children optional".
    """
    if row.code and (group := _group_of_code(row.code)):
        return frozenset({group})
    core = core_of(row.name)
    return core - OF_NONE or core if row.kind in ABSENCES else core


@lru_cache(maxsize=4_000)
def _group_of_code(codes: tuple[str, ...]) -> str:
    concept = concept_table().coded("result", codes)
    return group_of(concept.name) if concept is not None else ""


@lru_cache(maxsize=4_000)
def core_of(name: str) -> frozenset[str]:
    """Return the stems by which people know a name: `Hemoglobin [Mass/volume] in Blood` is one."""
    found = _CORE.match(name)
    text = found.group() if found and found.group().strip() else name
    if "[" in name and len(before := text.partition(" in ")[0]) > 2:
        text = before
    groups = frozenset(one for one in clause_of(text).names if one.startswith("="))
    rest = stems_of(text) - {word for group in groups for word in group_words(group)}
    core = groups | rest | ({"urine"} & stems_of(name))
    # Of `Total score [MMSE]` only the brackets say what was scored.
    return core if core - statement_words().filling else core | stems_of(name)


@lru_cache(maxsize=1_000)
def group_words(group: str) -> frozenset[str]:
    """Return the stems of all words by which the names of a group are written."""
    return frozenset(
        part
        for table in (statement_words().phrases, statement_words().concepts)
        for phrases in table.values()
        for phrase in phrases
        if f"same:{group}" in phrase.tags
        for word in phrase.words
        for part in (stem(word), *(stem(piece) for piece in word.split("-")))
    )


def needs_of(row: ViewRow) -> frozenset[str]:
    """Return the stems of which a sentence about a row names all, or one."""
    core = core_for(row)
    vocabulary, is_value = statement_words(), row.number is not None or bool(row.unit)
    joined = [word for word in row.name.split() if is_value and "-" in word]
    core = core - {stem(part) for word in joined for part in word.split("-")}  # NT-proBNP is no NT
    soft = vocabulary.filling if is_value else vocabulary.soft
    kept = frozenset(word for word in core if word not in soft and not word[0].isdigit())
    return kept or core


def classes_of(row: ViewRow) -> frozenset[str]:
    """Return what else people call the thing of a row: its class, its brand, its disease."""
    if row.kind.startswith("allerg"):
        return _allergen_kinds(row.name) | _other_names(row.name)
    if row.kind == "immunization":
        return _vaccine_words(row.name, row.code)
    if row.kind in ("problem", *DIAGNOSES):
        return _disease_words(row.code)
    if row.kind != "medication":
        return frozenset()
    return (
        class_words(row.name, row.code)
        | _other_names(row.name)
        | _spelt_otherwise(core_of(row.name))
    )


@lru_cache(maxsize=1_000)
def _allergen_kinds(name: str) -> frozenset[str]:
    """Return of which kinds an allergen is, or may be where the table does not know it."""
    words, table = words_of(name), rows_called("allergens")
    kinds = {
        kind
        for kind, members in table.items()
        if any(holds(words, words_of(one)) for one in (kind, *members))
    }
    is_drug = "contrast" in kinds or any(concept_table().named("drug", one) for one in words)
    found = ["=drug allergy"] if is_drug or not kinds else []
    return frozenset(
        [*found, *(["=food allergy"] if "food" in kinds or not (kinds or is_drug) else [])]
    )


@lru_cache(maxsize=1_000)
def _disease_words(codes: tuple[str, ...]) -> frozenset[str]:
    """Return stems of what a code of ICD-10 means: `Bösartige Neubildung: Oberlappen` a cancer."""
    own = [code.rpartition("|")[2] for code in codes if "icd-10" in code.lower()]
    of_code = [
        (len(begin), one.name)
        for one in concept_table().concepts
        for begin in one.icd10
        if one.kind == "problem" and any(code.startswith(begin) for code in own)
    ]
    name = max(of_code)[1] if of_code else ""
    return stems_of(name).union(clause_of(name).names)


@lru_cache(maxsize=1_000)
def _vaccine_words(name: str, codes: tuple[str, ...]) -> frozenset[str]:
    """Return stems of what people call a vaccine by one word: `Td (adult)` is tetanus."""
    table = concept_table()
    found = table.coded("vaccine", codes) or table.displayed("vaccine", name)
    own = {(word,) for word in words_of(name)}  # `Td` is one against diphtheria, too
    against = [c for c in table.concepts if c.kind == "vaccine" and own & {*c.words}]
    said = [words for one in against for words in (*one.words, one.name.split()[:-1])]
    single = [words[0] for words in said if len(words) == 1 and len(words[0]) > _VACCINE_CHARS]
    single += [words[0] for words in (found.words if found else ()) if len(words) == 1]
    named = (one for word in single for one in clause_of(word).names)
    return frozenset((*named, *(stem for word in single for stem in stems_of(word))))


@lru_cache(maxsize=1_000)
def _other_names(drug: str) -> frozenset[str]:
    """Return stems of other names of a drug, by all that is in it: `Kyleena` is levonorgestrel."""
    table, words = concept_table(), words_of(drug)
    found = {one.name: one for word in words if (one := table.named("drug", word))}
    whole = table.named("drug", " ".join(words_of(" ".join(found)))) if found else None
    said = [whole] if whole is not None and not whole.members else []
    joined = ["".join(words) for one in said for words in one.words]  # `Depo-Provera`
    joined += [f"{word}e" for word in joined if word.endswith("zol")]
    groups = {group for one in said for words in one.words if (group := group_of(" ".join(words)))}
    return frozenset(groups).union(*map(stems_of, (*joined, *(one.name for one in said))))


@lru_cache(maxsize=1_000)
def _spelt_otherwise(core: frozenset[str]) -> frozenset[str]:
    """Return drugs that a record names with one letter wrong: `Simvistatin`."""
    known = statement_words().names
    return frozenset(
        name
        for word in core
        if len(word) >= _LONG_NAME and word not in known
        for name in known
        if name[0] == word[0] and Levenshtein.distance(name, word, score_cutoff=1) == 1
    )


@lru_cache(maxsize=1_000)
def class_words(drug: str, codes: tuple[str, ...]) -> frozenset[str]:
    """Return what a drug's classes are called: `statin`, `=ace inhibitors`."""
    words = classes_of_drug(drug, codes)
    single = (stem(one) for one in words if " " not in one)
    return frozenset((*single, *(name for one in words if (name := group_of(one)))))


def standing_of(row: ViewRow) -> Standing:
    """Return whether what a row tells of holds now; a visit that was cancelled never was."""
    if row.status == "cancelled" and row.kind in DONE_ONCE:
        return "absent"
    if any(words <= stems_of(row.name) for words in _BYGONE):
        return "ended"
    return _STANDING.get(row.status.lower(), "")


def hedges_of(row: ViewRow) -> frozenset[str]:
    """Return the words with which alone a row may be told that is no fact of the patient."""
    if doubts := DOUBTFUL & {*row.detail.split("; ")}:
        return stems_of(f"{' '.join(doubts)} suspected possible")
    if row.name.endswith(NOT_PATIENTS):
        whose = row.name.rpartition("(of ")[2].removesuffix(NOT_PATIENTS)
        return stems_of(f"{whose} fetal" if "fetus" in whose.casefold() else whose)
    is_broken_off = row.kind == "procedure" and row.status in _BROKEN_OFF
    if is_broken_off or row.status in NOT_YET:
        return stems_of(row.status.removeprefix("only a"))
    return frozenset()

"""Whether prose says of the patient what no row has a word of: "She is anaemic." Pure."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from services.language.sentences.clauses import Clause
from services.language.sentences.links import REASONS
from services.language.sentences.statements import Sentence
from services.language.words.detection import is_unread
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, is_clinical_name, statement_words
from services.statements.comparing.by_values import is_of_other_report
from services.statements.comparing.changes import is_of_unknown_number
from services.statements.noticed import (
    NO_STATEMENT,
    decided,
    errands_unknown,
    is_lone_claim,
    is_noticed_by_other,
)
from services.statements.rows import fit, known_words
from services.statements.rows.happenings import has_happened, is_otherwise
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import INFLECTIONS, SHORT_CHARS, SHORT_FORM_CHARS, has_all
from services.statements.rows.one_of_several import DONE_ONCE, PARTS, excludes, meant_by, placed
from services.statements.rows.rows import KnownRow, stems_of, told_of
from services.statements.tables import label_of

_SMALL_WORD, _FEW, _WHOLE_STEM = 2, 2, 9
_BLOOD_GROUP, _LETTERS = "=blood group", frozenset({"b", "ab", "o"})
_TOLD_BY_NAME = PARTS | {"modality", "approach", "reach"}
_ROMAN = frozenset("ivxabc")
_SEEN = frozenset({"is_now", "rising", "falling", "steady"})
_MEASURED = ("wert", "werte", "spiegel", "bereich")
"""German joins what is measured with these: `Kaliumwert`, `Normbereich`."""


def tells_unknown(sentence: Sentence, rows: KnownRows, own_names: AbstractSet[str]) -> bool:
    """Whether no row says what a sentence without a claim to compare tells of a patient."""
    return (
        _states_unknown(sentence, rows, own_names)
        or _reports_unknown(sentence, rows.rows)
        or errands_unknown(sentence, rows.rows)
        or _cites_unknown(sentence, rows.words)
        or is_noticed_by_other(sentence, rows)
    )


def _cites_unknown(sentence: Sentence, known: AbstractSet[str]) -> bool:
    """Whether a guideline or a trial is said to advise or take what no row and no source tells."""
    is_plain = not (sentence.is_heading or sentence.refs or sentence.is_question)
    told = sentence.words & saying("of_publications")
    is_told = bool(told) and is_plain and not sentence.cues & {"first_person", "no", "nothing"}
    return is_told and told.isdisjoint(known) and bool(sentence.words & saying("publishing"))


def _states_unknown(sentence: Sentence, rows: KnownRows, own_names: AbstractSet[str]) -> bool:
    """Whether no row has all words by which a sentence states something of the patient."""
    is_open = sentence.text.rstrip(" *_\n")[-1:].isalpha() and not sentence.is_item
    label = label_of(sentence, rows)
    is_verb = "asserts" in sentence.cues or sentence.words & saying("occurring")
    is_title = is_open and not label and not is_verb  # "Mrs Yost – overview"
    if sentence.is_heading or sentence.asks or sentence.refs or is_title:
        return False
    is_of_patient = "about_patient" in sentence.cues or bool(sentence.words & saying("offspring"))
    is_of_patient = is_of_patient or bool(label)
    own_names = own_names | label if told_of(sentence.words) - label else own_names
    told = [one for one in sentence.clauses if _is_unknown(one, rows, own_names, is_of_patient)]
    if told and sentence.reader is not None:  # "has capacity and wants to go home", each for itself
        parts = sentence.reader.segments()
        told = [one for one in parts if _is_unknown(one, rows, own_names, is_of_patient)]
    return bool(told) or _is_in_strange_words(sentence, rows.words)


def _is_in_strange_words(sentence: Sentence, known: AbstractSet[str]) -> bool:
    """Whether hardly a word of a sentence is one of a language that is read, or of a row.

    What it says nobody has compared.
    """
    words = [word for word in sentence.words if word.isalpha() and len(word) > _SMALL_WORD]
    if len(words) < _FEW and not sentence.is_item:  # "*Pathology*, go."
        found = (
            w for w in words if w in known or (known_words.meaning(w, known) and not group_of(w))
        )
        return not any(found) and (is_unread(sentence.text) or is_lone_claim(sentence))
    vocabulary = statement_words()
    read = (known, vocabulary.neutral, vocabulary.spoken, vocabulary.named, vocabulary.exclusive)
    strange = [word for word in words if not [1 for one in read if word in one]]
    half = len(words) / 2
    return len(strange) > half or (len(strange) == half and is_unread(sentence.text))


def _reports_unknown(sentence: Sentence, rows: Sequence[KnownRow]) -> bool:
    """Whether somebody is said to have recommended or decided what no row says was so."""
    deciding = decided(sentence.words)
    is_plain = not (sentence.is_heading or sentence.asks or sentence.refs or sentence.is_question)
    is_of_scan = any(group_of(w) == "modality" for one in sentence.clauses for w in one.exclusive)
    if is_of_scan and deciding == saying("suggested"):
        return False  # compared as a finding
    if not deciding or not is_plain or sentence.cues & {"first_person", "not_yet"}:
        return False
    told = told_of(sentence.words) - deciding - statement_words().neutral
    return bool(told) and not any(
        has_all(told, row.words) and has_all(deciding, row.words) for row in rows
    )


def adds_unknown(sentence: Sentence, rows: Sequence[KnownRow], own_names: AbstractSet[str]) -> bool:
    """Whether a sentence says something besides of which no row that supports it has a word.

    What is told to be there is told by no row that denies something: "No leptomeningeal
    enhancement" is no word for "leptomeningeal disease".

    Args:
        rows: Those that stand on the sources by which it is supported.
        own_names: Stems of the words of the patient's name.
    """
    is_of_value = any(_tells_value(clause, rows) for clause in sentence.clauses)
    return any(
        is_of_unknown_number(clause, rows)
        or not known_words.of_months(clause, rows)
        or _adds_unknown(clause, rows, own_names, sentence, is_of_value=is_of_value)
        for clause in sentence.clauses
    )


def _adds_unknown(
    clause: Clause,
    rows: Sequence[KnownRow],
    own_names: AbstractSet[str],
    sentence: Sentence,
    *,
    is_of_value: bool,
) -> bool:
    if clause.cues & {"no", "nothing"} or (sentence.cues & REASONS and "maybe" in clause.cues):
        return False
    short = frozenset(word for word in sentence.short_names if not _is_neutral(word, clause))
    said = (said_of(clause, own_names) | (clause.words & short)) - clause.called
    if _BLOOD_GROUP in clause.names:
        letters = clause.words & _LETTERS or clause.words & {"a"}
        groups = [row for row in rows if _BLOOD_GROUP in row.needs]
        if letters and groups and not any(letters <= row.words for row in groups):
            return True
    if is_of_value and (_has_figure(clause) or stems_told("judged").issuperset(clause.names)):
        said = frozenset(filter(_is_of_medicine, said))
    if not said.isdisjoint(sentence.hyphened):
        said = _with_parts(said, clause, rows, sentence)
    if _has_figure(clause) or (clause.dates and not clause.names):
        said -= {  # a stay says that somebody was admitted
            word
            for word in said & statement_words().happening.keys()
            if any(has_happened(word, row) for row in rows if not row.negated)
        }
    is_denied = not clause.words.isdisjoint(stems_told("denying") | saying("without"))
    is_denied |= "normal" in clause.cues
    meant = (row for row in rows if is_denied or not row.negated)
    meant = (row for row in meant if not row.is_plan or fit.is_hedged(clause, row))
    if clause.says("treating"):  # by no drug that somebody is allergic to
        meant = (row for row in meant if not row.kind.startswith("allerg"))
    meant = (row for row in meant if not _is_of_other_day(clause, row)) if clause.dates else meant
    meant = (row for row in meant if not row.is_text or _is_there(clause, row))
    of_whom = _of_whom(sentence.words, meant)
    meant = (row for row in of_whom if row.kind != "personal" or row.words & {*clause.names})
    told = ((row, row.words if is_denied else row.words - known_words.lacked(row)) for row in meant)
    return bool(said) and not _are_told_by(told, said, clause)


def _are_told_by(
    told: Iterable[tuple[KnownRow, AbstractSet[str]]], said: frozenset[str], clause: Clause
) -> bool:
    """Whether rows, with what each tells, have all words that are said; nearly always the first."""
    specialists = {word[:_WHOLE_STEM] for word in clause.words & saying("specialists")}
    panels, rows = statement_words().panels, list[KnownRow]()
    known = {*clause.names, *(word for name in clause.names for word in panels.get(name, ()))}
    for row, words in told:
        known.update(words, *row.sites)
        if said <= known and not specialists:
            return True
        rows.append(row)
    known.update(*(stems_of(row.says.rpartition(":")[0]) for row in rows if row.is_text))
    is_short = any(len(word) == SHORT_CHARS for word in said - known)
    texts = [row.says.lower().replace("(", "").split() for row in rows if is_short]
    initials = ["".join(word[0] for word in one) for one in texts]
    begun = (word[:_WHOLE_STEM] for word in known)  # no rheumatologist by rheumatoid arthritis
    return has_all(said, known, initials) and specialists.issubset(begun)


def _is_of_other_day(clause: Clause, row: KnownRow) -> bool:
    """Whether a row tells what was done on another day: "sutured on 7 February"."""
    is_done = row.kind in DONE_ONCE and not row.is_text
    return is_done and not any(fit.has_date(one, row) for one in clause.dates)


def _is_there(clause: Clause, row: KnownRow) -> bool:
    """Whether a text is of the place that is told: that artery, or that segment of the liver."""
    place = placed(clause)
    parts = [one for one in clause.stages if not one.scale and clause.says("numbered_parts")]
    is_there = all(any(map(one.fits, row.stages)) for one in parts)
    is_sure = "maybe" in clause.cues or not _is_other_way(clause, row)
    return is_there and is_sure and fit.has_sites(place, row) and not excludes(place, row)


def _with_parts(
    said: frozenset[str], clause: Clause, rows: Sequence[KnownRow], sentence: Sentence
) -> frozenset[str]:
    """Return what is said, with their parts for words with hyphens that no row has."""
    known = frozenset().union(*(row.words for row in rows))
    exclusive = statement_words().exclusive.keys() - known  # "first-trimester", of the first
    parted = said & sentence.hyphened.keys() - known
    parted = frozenset(word for word in parted if sentence.hyphened[word].isdisjoint(exclusive))
    whole = (part for word in parted for part in sentence.hyphened[word])
    parts = told_of(part for part in whole if len(part) > SHORT_CHARS)
    return said - parted | {part for part in parts if not _is_neutral(part, clause)}


def _tells_value(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    """Whether a clause tells a measured value that a row has, and no cause of it.

    What is said beside such a value is a remark on it: the value stands there to be read.
    """
    if clause.says("causes"):
        return False
    scores = () if clause.says("numbered_parts") else clause.stages
    of_values = [row for row in rows if not row.is_text]
    if any(told.fits(one) for told in scores for row in of_values for one in row.stages):
        return True
    return bool(clause.differences) or any(
        fit.is_measured(one, row) for row in of_values if row.needs_all for one in clause.quantities
    )


def _has_figure(clause: Clause) -> bool:
    return bool(clause.quantities or clause.differences or clause.stages)


def _is_of_medicine(word: str) -> bool:
    """Whether a word claims something of a patient wherever it stands."""
    known = statement_words()
    is_told = word in known.happening or word in stems_told("family") or word in known.places
    return is_told or word in saying("went", "goal", "entered_by") or is_clinical_name(word)


def said_of(clause: Clause, own_names: AbstractSet[str]) -> frozenset[str]:
    """Return the words of a clause that a row has to have."""
    told = told_of(clause.words) - own_names
    seen = frozenset(w for w in clause.exclusive if group_of(w) in _TOLD_BY_NAME)
    seen |= clause.words & saying("of_a_size") if clause.cues & _SEEN else frozenset()
    seen |= _of_doctor(clause) - saying("prescribed") | decided(clause.words) & saying("confirming")
    if "ended" in clause.cues and clause.says("doses", "a_dose"):  # "stopped at cycle five"
        seen |= (clause.words & statement_words().ending) - saying("completed")
    return seen | frozenset(word for word in told if not _is_neutral(word, clause))


def _of_doctor(clause: Clause) -> frozenset[str]:
    """Return who a named doctor is said to be to somebody, or to have done."""
    return clause.words & saying("of_a_doctor") if clause.says("doctor") else frozenset()


def _is_neutral(word: str, clause: Clause) -> bool:
    known = statement_words()
    if word in stems_told("family") and word not in saying("any_kin"):
        return False
    is_course = not known.better.keys().isdisjoint(clause.names)  # compared as one
    is_course |= max(len(clause.quantities), len(clause.stages)) > 1
    if is_course and word in saying("went"):
        return True  # "recovered from 11.6 to 13.2": its numbers are compared
    forms = [word]
    if len(word) > SHORT_FORM_CHARS and word.endswith(INFLECTIONS):
        forms += [word.removesuffix(ending) for ending in INFLECTIONS]
    if not (known.neutral.isdisjoint(forms) and known.spoken.isdisjoint(forms)):
        return True
    if word in known.exclusive or (clause.stages and _ROMAN.issuperset(word)):
        return True
    # "mmHg" is mm[Hg] by UCUM.
    written = word.replace("µ", "u").replace("μ", "u")
    return any(written in one.unit.lower().replace("[", "") for one in clause.quantities)


def _is_unknown(
    clause: Clause, rows: KnownRows, own_names: AbstractSet[str], is_of_patient: bool
) -> bool:
    """Whether no row says what a clause says: it has all its words, and its numbers.

    A clause that is not of the patient by its words is so by a value or a finding of something
    that rows speak of: "The Mirels score is 7."
    """
    shows, occurs = clause.says("shows"), clause.says("occurring") or "tolerates" in clause.cues
    is_told = is_of_patient or shows or bool(clause.cues & {"asserts", "current", "outstanding"})
    is_told = is_told or occurs or (bool(clause.names) and clause.own_names)
    is_promised = clause.says("who") and clause.says("promising")
    is_wish = clause.says("who") and clause.says("wishing") and not clause.says("may_be")
    is_wish |= clause.says("who") and clause.says("was_told")
    is_told, is_denied = is_told or is_wish, "no" in clause.cues
    may_be = ({"maybe"} if is_promised or is_wish else set()) | ({"no"} if is_wish else set())
    if not is_told or clause.cues & NO_STATEMENT - may_be or _is_judged_by_others(clause):
        return False
    told = frozenset(w for w in told_of(clause.words) - own_names if not w.endswith(_MEASURED))
    said = frozenset(word for word in told if is_wish or not _is_neutral(word, clause)) or told
    said |= clause.words & (statement_words().happening.keys() | stems_told("allergic"))
    said |= clause.words & stems_told("outstanding").union(*map(known_words.lacked, rows.rows))
    said |= _of_doctor(clause) | (clause.words & (stems_told("tolerates") | saying("was_told")))
    meant = [known_words.meaning(word, rows.words) for word in said]
    is_of_value = clause.quantities or clause.exclusive or clause.counted
    is_found = bool(is_of_value or shows or clause.cues & {"is_now", "outstanding"})
    is_found = (is_found and (any(meant) or shows)) or occurs  # "the MRI shows"
    is_found |= clause.says("devices") or bool(clause.cues & _SEEN and clause.says("seen_of_body"))
    is_found = is_found or (clause.says("it") and not said <= statement_words().neutral)
    is_past = not clause.words.isdisjoint(stems_told("past"))
    if not said or not (is_of_patient or is_found or is_past):
        return False
    numbers = statement_words().numbers.keys() - saying("one")
    return not any(
        (row.negated == is_denied or bool(clause.words & statement_words().refusing))
        and known_words.of_months(clause, [row])
        and not (is_past and row.is_plan and not fit.is_hedged(clause, row))
        and not (is_promised and not (row.is_plan or row.is_text))
        and not (_is_other_way(clause, row) or (is_wish and is_otherwise(clause, row)))
        and not fit.is_of_other_number(clause, row)
        and fit.stands(clause, row)
        and clause.words & numbers <= row.words
        and meant_by({*clause.exclusive} - row.words) <= meant_by(row.exclusive)
        and all(not one.isdisjoint(row.words - known_words.lacked(row)) for one in meant)
        and all(fit.is_measured(one, row) for one in clause.quantities)
        and not is_of_other_report(clause, [row], rows)
        for row in _of_whom(clause.words, rows.rows)
    )


def _of_whom(words: AbstractSet[str], rows: Iterable[KnownRow]) -> Iterator[KnownRow]:
    """Yield the rows that may be of whom `words` are: "breast" of her aunt is not of hers."""
    kin = stems_told("family")
    return (row for row in rows if row.words.isdisjoint(kin) or not kin.isdisjoint(words))


def _is_judged_by_others(clause: Clause) -> bool:
    """Whether stages, codes, what is absent or what a tool did is said: other rules judge it."""
    is_deed = any(cue.startswith("deed:") for cue in clause.cues)
    is_own = is_deed and not (clause.says("who", "devices") or _of_doctor(clause))
    return bool(clause.stages or clause.codes) or clause.says("without") or is_own


def _is_other_way(clause: Clause, row: KnownRow) -> bool:
    """Whether a row only suspects what is told, or says that it was declined."""
    both = (stems_told("unsure"), statement_words().refusing)
    return any(row.words & words and not clause.words & words for words in both)

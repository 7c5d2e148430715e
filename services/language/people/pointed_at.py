"""Whom a message begins with, or whose value it asks for, where no name says it. Pure.

"dialysis lady: K?", "the hip fracture's BP", "die am Fenster, Blutdruck?".
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import takewhile

from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.charts.chart_words import lexicon
from services.language.people.descriptions import describes_somebody, values_asked
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name, ordinary_words
from services.language.words.vocabulary import concept_rows, drug_words

_LONGEST, _COMPOUND_CHARS, _YEAR_CHARS = 7, 6, 4
_SIGNS = frozenset(":,;")


def pointed_at(words: Sequence[Word]) -> str | None:
    """Return the illness or organ that stands for its bearer; "" of others; None: of nobody."""
    heading, sign = _heading(words)
    if not heading and _ails_before_a_value(words):
        return _named(words[:-1])
    if heading and (_is_somebody(heading) or _is_at_a_bed(heading, sign)):
        return ""
    return _named(heading) if heading and _stands_for_its_bearer(heading) else None


def _ails_before_a_value(words: Sequence[Word]) -> bool:
    """Whether an illness and what is measured are all that is said: `hip fracture hb`."""
    said, last = " ".join(one.text for one in words[:_LONGEST]), words[-1].text if words else ""
    is_value = last in measured_nouns() and last not in of_people(
        "values_of_places", "sizes_of_things"
    )
    each = (lexicon(one).pieces(said) for one in ("en", "de") if is_value)
    each = (one for one in each if len(one) == 2 and not words[0].is_in("lasting_ills"))
    ills = (one[0] for one in each if one[0].words[1:] or is_ill(one[0].text))  # no `ckd egfr`
    tools = ({name.tool for name in one.of("name")} for one in ills)
    return any("problems" in one and "results" not in one for one in tools)


def _heading(words: Sequence[Word]) -> tuple[Sequence[Word], str]:
    """Return what stands before a sign behind which something of a chart is asked, and the sign."""
    leads = of_people("moves_on", "joins", "opening") - of_people("definite")
    begin = len([*takewhile(lambda one: one.text in leads, words)])
    for at in range(begin, min(len(words) - 1, begin + _LONGEST)):
        sign = words[at + 1].gap
        if words[at].heads or not _SIGNS.isdisjoint(sign):
            return (words[begin : at + 1], sign) if asks_behind(words, words[at]) else ((), "")
    return (), ""


def asks_behind(words: Sequence[Word], last: Word) -> bool:
    """Whether anything of a chart is spoken of behind a word."""
    rest = {one.text for one in words if one.start > last.start}
    return not chart_nouns().isdisjoint(rest) or any(map(_is_measured, rest))


@lru_cache(maxsize=1_024)
def _is_measured(text: str) -> bool:
    begins = text in values_asked() | of_people("values_begin")
    return begins or is_clinical_name(stem(text))


def _is_somebody(phrase: Sequence[Word]) -> bool:
    """Whether a kind of person is told closer, or told by a place alone: `die am Fenster`."""
    texts = [one.text for one in phrase]
    named = of_people("relatives", "pronouns", "owners", "here", "as_whom")
    if not named.isdisjoint(texts) or any(one.title for one in phrase):
        return False
    told = texts[1 + (texts[1:2] == ["one"]) :]
    is_alone = len(told) > 1 and told[0] in of_people("described_by", "told_apart_by")
    is_alone = is_alone and (texts[1] == "one" or texts[0] in of_people("alone"))
    is_alone |= phrase[0].is_in("definite") and not of_people("told_by_job").isdisjoint(texts[1:2])
    leads = [] if phrase[0].is_in("definite") else ["the"]
    return is_alone or describes_somebody([*leads, *texts])


def _is_at_a_bed(phrase: Sequence[Word], sign: str) -> bool:
    """Whether a bed or room heads it: `hip fracture in 3: Hb?`, `isolation room, CRP?`."""
    number, last = sign.strip(" :,-"), phrase[-1]
    if phrase[0].is_in("places") and any(one.is_in("described_by", "sides") for one in phrase[1:2]):
        return True  # `Bett am Fenster: RR`
    if last.is_in("places"):
        return len(phrase) > 1 and not phrase[0].is_in("within", "described_by", "before_staff")
    if len(last.raw) == 1 and last.raw.isupper() and len(phrase) > 1:
        return phrase[-2].is_in("places")  # `cubicle C: Hb`
    is_hour = last.is_in("before_hours")  # `add an event tomorrow at 10: …`
    is_place = last.is_in("within", "described_by") and not is_hour
    return is_place and number.isdigit() and len(number) < _YEAR_CHARS


def _stands_for_its_bearer(phrase: Sequence[Word]) -> bool:
    """Whether an illness or organ heads the message for whose it is: `our lymphoma, …`."""
    says = any(one.is_in("copulas", "auxiliaries") for one in phrase)  # "that is wrong, …"
    # `this pt: lactate`, `started on apixaban today, bp`
    says |= phrase[-1].is_in("titles_of_patients") or phrase[0].is_in("no_one")
    is_timed = phrase[0].is_in("newest", "told_apart_by") and any(
        one.is_owner for one in phrase[:2]
    )
    if len(phrase) == 1:
        return phrase[0].heads and phrase[0].is_in("ills_of_names")  # `Graves: crp?`
    if phrase[-1].is_in("organs") and phrase[-1].after in of_people("values_of_bodies"):
        return phrase[0].is_in("definite")  # `the pancreas, weight?`
    is_new = any(one.is_in("days_of_surgery") and one.has_number for one in phrase)
    is_new |= phrase[-1].is_in("just_now") and _told_apart_at(phrase) > 0
    is_new &= not (phrase[0].is_in("definite") or any(one.is_in("since") for one in phrase))
    if says or not (is_timed or is_new or phrase[0].is_in("definite")):
        return False  # `the lymphoma: …`, `last night's NSTEMI: …`
    told = _told_apart_at(phrase)
    head = phrase[told - 1] if told > 1 else phrase[-1]
    if is_new and told > 1 and not is_ill(head.text):
        return False  # `ecg normal today, …`
    is_one = told > 1 or not phrase[0].is_in("articles", "alone", "to")
    joined = {f"{one.before}{one.text}" for one in phrase[1:] if one.gap == "-"}
    ills = map(is_ill, joined | {one.text for one in phrase[not is_new :]})
    return any(ills) or (is_one and not is_new and _tells_whom(head))


@lru_cache(maxsize=1_024)
def is_ill(text: str) -> bool:
    """Whether a folded word is an illness or operation, and no drug, value or list of a chart."""
    ills, ends = _ills()
    if text in ills or text in of_people("signs"):
        return text not in of_people("signs")
    if any(text in one for one in (chart_nouns(), measured_nouns(), drug_words())):
        return False
    coded = (text in row.get("words", ()) for row in concept_rows()["problems"].values())
    return text.endswith(ends) or any(coded) or is_clinical_name(stem(text))


@cache
def _ills() -> tuple[frozenset[str], tuple[str, ...]]:
    ills = chart_nouns("problems", "procedures") | of_people("ill_people")
    return ills, tuple(one for one in ills if len(one) > _COMPOUND_CHARS)


def _told_apart_at(phrase: Sequence[Word]) -> int:
    """Return where what tells one from others begins: `die Hüfte von gestern`; else 0."""
    ends = of_people("described_by", "told_apart_by")
    return next((at for at, one in enumerate(phrase) if at and one.text in ends), 0)


def _tells_whom(word: Word) -> bool:
    is_known = word.is_common or is_clinical_name(stem(word.text)) or is_strange(word.text)
    is_other = word.text in chart_nouns() or stem(word.text) in ordinary_words()
    is_other |= word.gap == "-" and f"{word.before}{word.text}" in chart_nouns()  # `Check-up`
    return word.text in chart_nouns("search_record") or (is_known and not is_other)


def _named(phrase: Sequence[Word]) -> str:
    leads = of_people("definite", "articles", "joins", "before_ills")
    told = phrase[: _told_apart_at(phrase) or None]
    return " ".join(one.text for one in told if one.text not in leads)

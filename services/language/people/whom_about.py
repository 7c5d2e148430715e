"""Whom a message is about by its frame, "does {who} have asthma", whatever stands there. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import dropwhile, product

from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.figures.full_dates import full_dates
from services.language.people.descriptions import values_asked
from services.language.people.mentions import read_words
from services.language.people.named_person import is_only_a_name
from services.language.people.pointed_at import is_ill, pointed_at
from services.language.people.signed_word import Word
from services.language.people.strange_words import in_long_names_of
from services.language.sentences.sentences import sentences_of
from services.language.several_requests import apart
from services.language.words.folding import words_of
from services.language.words.letters import APOSTROPHES
from services.language.words.people_words import names_that_are_words, of_people
from services.language.words.phrases import every_part_in, says
from services.language.words.vocabulary import drug_words

_LONGEST_WORDS, _YEAR_CHARS, _ASKED = 7, 4, "crp?"
_FEW_BEFORE, _REPORT_CHARS = 4, 400
_PRESSURE = re.compile(r"\d{2,3}/\d{2}|\b(?:15-3|19-9|72-4)\b")  # and the numbers of markers
_YEARS = re.compile(r"(?:19|20)\d\d ?[-/\u2013] ?(?:19|20)?\d\d")
_NOT_OF_NAMES = ("no_one", "auxiliaries", "made_for", "tells", "wrong_one", "before_hours")
_NOBODY = ("pronouns", "lower_pronouns", "just_now", "others", "newest", "called_patients")
_FRAMES = ("whom_asked", "whom_ordered", "whom_told", "whom_aged")


@lru_cache(maxsize=64)
def reported_in(text: str) -> tuple[str, ...]:
    """Return what somebody is told to have said, where a value follows what may be a name.

    "Nurse says fall bp is off", "lab: young k 2,1"; of "reports sharp chest pain" nothing.
    """
    head, colon, rest = text[:_REPORT_CHARS].partition(": ")
    if not (colon and len(head.split()) <= _FEW_BEFORE):
        words = text[:_REPORT_CHARS].split(maxsplit=_FEW_BEFORE + 1)
        at = next((n for n, w in enumerate(words) if w.lower() in of_people("says")), 0)
        rest = " ".join(words[at + 1 :]) if at else ""
    values = measured_nouns() - of_people("signs")
    is_valued = not values.isdisjoint(words_of(rest)[1:3])
    return (rest.strip(),) if is_valued else ()


def headings_of(text: str) -> tuple[str, ...]:
    """Return what `text` asks or tells as questions headed by whom: "same for X" as "X: crp?"."""
    is_valued = not measured_nouns().isdisjoint(words_of(text))
    is_well = is_valued or chart_nouns("problems").isdisjoint(words_of(text))
    aside = ("value_and_before", "speaks_of_visitor", "mails_by_name")  # are two values
    if says(text, *aside, *["of_a_relative"][is_well:]):  # "hat der Vater auch Krebs?"
        return ()
    is_of_open = not of_people("subjects").isdisjoint(words_of(text))
    every = read_words(text).words
    dated = {one.text for one in every if one.is_in_date}  # `crp in May`
    things = {one.text for one in every if one.is_of_a_thing}  # `clark level`
    headings = []
    for frame, said in _asked_of(text):
        name = _FRAMES[2] if says(text, "recalls") else frame  # "what did I say of his wife"
        who = said.strip("()[]. ")
        is_quality = text.find(who) > 0 and of_people("qualities").issuperset(words_of(who))
        heading = f"{who.title() if is_quality else who}: {_ASKED}"  # `was kriegt kurz`
        *words, _ = read_words(heading).words
        is_dated = any(one.is_in_date or one.text in dated for one in words)
        before = {*words_of(text[: text.find(who)])[-1:]}
        is_day = before <= of_people("before_days")
        is_day = is_day if full_dates(heading) else is_dated  # `psa on 1971-04-03`
        is_kins = any(one.is_in("relatives") for one in words[:-1])  # `mum's cancer, age`
        is_aside = is_day or is_met(text, who) or (who.isdecimal() and len(who) <= _YEAR_CHARS)
        is_aside |= (
            _YEARS.fullmatch(who) is not None  # `min height 2011-2014`
            or not before.isdisjoint(of_people("staff"))  # `Hausarzt Demir will den Brief`
            or of_people("how_much").issuperset(words_of(who.partition(",")[0]))  # `isst gut`
        )
        is_aside |= is_kins and not is_valued and words[-1].text in chart_nouns("problems")
        is_told = not is_of_open or name == _FRAMES[0]
        told = {one.text for one in words} - of_people("definite")
        is_pointed = len(told) < len(words)  # `the hip fracture's BP`
        beside = of_people("counted", *_NOBODY, *["organs"][is_valued:])
        is_aside |= (
            _is_scanned(text, who)
            or set() < told <= beside
            or bool(told & (things | of_people("diagnoses")))
            or not (is_pointed or told.isdisjoint(in_long_names_of(text)))
        )
        if is_told and not is_aside and _may_be_somebody(words) and not _is_beside(heading, name):
            headings.append(heading)
    return tuple(dict.fromkeys(headings))


def _asked_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands where whom something is of does, with the frame that tells so."""
    headed = text.replace(", ", ": ", 1)  # `quick q on Doyle, kras?`
    sentences = dict.fromkeys((text, headed, *map(str.strip, sentences_of(text)), *apart(text)))
    behind = [text.partition(sign)[2] for sign in (": ", " - ")]  # `from dr lee: cook problems`
    told = product((_FRAMES[0], _FRAMES[2]), filter(None, behind))
    for name, sentence in (*product(_FRAMES, sentences), *told):
        for part in every_part_in(sentence, name):
            who = _without_fillers([*dropwhile(_leads, _whom(sentence, part).split())])
            if who and who[-1] != "-" and ": " not in who:  # `Rosen-Allergie`
                yield name, who
    if text.rstrip("?! .").endswith(")"):
        yield _FRAMES[0], text.rpartition("(")[2]  # `hb? (JD)`


def _without_fillers(words: Sequence[str]) -> str:
    """Return words without those that linger behind a name: `hb koch heute`, no `die von heute`."""
    fillers, ties = (
        of_people("lingers", "again", "days"),
        of_people("described_by", "told_apart_by"),
    )
    behind = dropwhile(lambda one: fillers.issuperset(words_of(one) or ["-"]), words[:0:-1])
    kept = [*words[:1], *reversed([*behind])]
    return " ".join(words if ties.issuperset(words_of(" ".join(kept[-1:]))) else kept)


def _leads(word: str) -> bool:
    said, leads = words_of(word) or ["-"], of_people("leads_to_whom", "opening")
    others = of_people("definite", "no_one", "titles_of_men", "titles_of_women")
    return word[-1] not in ".," and leads.issuperset(said) and others.isdisjoint(said)


def _with_kin(text: str, who: str) -> str:
    """Return whose relative something is with them: of "hold his mother's metformin" the mother."""
    word = next(iter(text.partition(f"{who} ")[2].split()), "")
    kin = word.removesuffix("s").rstrip(APOSTROPHES)
    is_theirs = kin != word and kin.lower() in of_people("relatives")
    return f"{who} {kin}" if is_theirs and of_people("owners").issuperset(words_of(who)) else who


def _whom(text: str, part: Mapping[str, str]) -> str:
    """Return the words before what is asked for; nothing where that is no value of a chart."""
    theirs = part.get("theirs")  # `hb vom neuzugang`
    who = _with_kin(text, part.get("who") or (f"unser {theirs}" if theirs else ""))
    of_illness = any(map(is_ill, words_of(who)[-2:])) and says(text, "course_of_illness")
    if not who or of_illness or _PRESSURE.search(who) or says(who, "a_dose"):
        return ""  # signs and figures name nobody: "bp in the room 165/95"
    asked, value = part.get("what", ""), part.get("value", "")
    told = words_of(part.get("beside", who))
    is_kin = bool(told) and of_people("relatives").issuperset(told)
    is_allergen = who.islower() and not of_people("of_allergens").isdisjoint(words_of(text))
    is_allergen |= not of_people("of_antigens").isdisjoint(words_of(text))
    is_name = any(map(is_only_a_name, words_of(who)))  # "allergy to wool", "wheat IgE"
    is_allergen &= not is_name or asked in of_people("of_allergens")  # "rice allergy?"
    if (is_kin and "ca" in words_of(asked or who)[1:]) or is_allergen:
        return ""  # "Mutter Mamma-Ca" is a relative's cancer, and nobody's calcium
    if theirs:
        is_job = bool(of_people("told_by_job") & {*words_of(theirs)})  # `the teacher's stage`
        said = {*words_of(value or asked)} - (set() if is_job else of_people("sizes_of_things"))
        return who if said & (chart_nouns() if is_job else measured_nouns()) else ""
    if "beside" in part:
        is_figure = not any(map(str.isalpha, who.split()[0]))  # `ldl 150`
        who = "" if is_figure else _behind_values(f"{part['beside']} {who}")
    # `the cook temp`
    beside = ["values_of_places"] * (not of_people("told_by_job").isdisjoint(words_of(who)))
    is_of_drug = "drug" not in part or not drug_words().isdisjoint(words_of(part["drug"]))
    if not is_of_drug or (value and _values(*beside).isdisjoint(words_of(value)[-1:])):
        return ""
    scales = ({*words_of(who)} & of_people("eponyms", "staged_by")) - of_people("surnames_too")
    values = _values(*beside, *["found_of_one"][bool(scales) :])
    if not (at := next((one for one in asked.split() if not values.isdisjoint(words_of(one))), "")):
        return "" if asked else who
    start = text.find(who)
    words = text[start : f" {text}".find(f" {at}", text.rfind(asked))].split()
    cut = of_people("newest", "owners", *["definite"][not start :])  # `bei Graf das Ferritin`
    while words and cut.issuperset(words_of(words[-1])):
        words.pop()
    return " ".join(words).rstrip(" ,:")


def _behind_values(text: str) -> str:
    """Return what of `text` stands behind the last value: of `chest ct report X` the X."""
    words = text.split()
    is_name = names_that_are_words().issuperset(words_of(words[-1]))  # `puls kurz`
    values = _values(*["values_of_places"][not is_name :])
    places = [at for at, one in enumerate(words) if not values.isdisjoint(words_of(one))]
    return " ".join(words[places[-1] + 1 :]) if places else ""


def is_met(text: str, who: str) -> bool:
    """Whether a meeting is with them: `Termin bei Lopez um 10 Uhr`."""
    before = words_of(text[: text.find(who)])
    return bool(of_people("met_at") & {*before[-1:]} and of_people("meetings") & {*before})


def _is_scanned(text: str, who: str) -> bool:
    """Whether an organ stands behind its scan, or what it is behind it: `mrt kopf`."""
    before, told = words_of(text[: text.find(who)])[-1:], {*words_of(who)}
    things = of_people("organs", *["to"][": " in text :])  # `dosis zu klein`
    is_told = told <= of_people("qualities") and not things.isdisjoint(before)
    return is_told or (told <= of_people("of_scans") and {*before} <= of_people("scans"))


def _may_be_somebody(words: Sequence[Word]) -> bool:
    if not words:
        return True  # a date, or a number
    begins = of_people(*_NOT_OF_NAMES) - of_people("definite")
    if len(words) > _LONGEST_WORDS or words[0].text in begins:
        return False
    is_numbered = any(one.has_number or one.gap[-1:].isdigit() for one in words)  # `die 12`, `12A`
    is_open = all(one.is_in("definite", "here", "titles_of_patients") for one in words)
    is_open |= words[-1].text == "one" and all(
        one.is_in("definite", "newest") for one in words[:-1]
    )
    is_said = all(one.before for one in words[1:])  # in one sentence
    is_owned = any(one.is_in("owners") for one in words)
    others = words[:-1] if is_owned else words  # `her twin sister`
    if words[0].is_in("definite") and not words[0].is_in("here") and words[2:]:
        others = others[1:]  # `that new admission`
    if words[0].is_in("definite") and words[3:4] and words[2].is_in("speakers", "staff"):
        others = words = [*words[:2], *words[3:]]  # `the one I saw`, `der von Dr. Weber`
    is_other = any(one.is_in("staff") for one in others) or any(
        one.is_in("subjects", "speakers") and one.before not in of_people("not_asked")
        for one in others  # `the post-op from this morning`
    )
    last, ill = words[-1].text, of_people("ill_people")
    done = chart_nouns("procedures", "immunizations")
    is_thing = last in _values() or (last in done and last not in ill)
    is_thing |= words[0].is_in("definite") and any(one.text in _values() for one in words[1:2])
    is_cut = words[-1].is_in("newest", "leads_to_whom", "calls", "people_do")  # `his wife wants`
    is_cut |= words[-1].is_in("definite", "articles", "behind_places") and not is_numbered
    return is_said and not ((is_open and not is_numbered) or is_cut or is_other or is_thing)


@cache
def _values(*beside: str) -> frozenset[str]:
    return values_asked() - of_people("told_of_kin", "values_of_places") | of_people(*beside)


def _is_beside(heading: str, frame: str) -> bool:
    """Whether it is an illness, or a relative, of whom something may be told in any chart."""
    words = read_words(heading).words
    is_kin = any(
        one.is_in("relatives") or (one.is_in("spouses") and one.before in of_people("owners"))
        for one in words
    )
    ill = pointed_at(words) if frame in _FRAMES[1:3] else None
    names = of_people("ill_people", "ills_of_names")
    is_of_ill = bool(ill) and names.isdisjoint(words_of(ill or ""))
    return is_of_ill or (is_kin and frame in _FRAMES[2:])

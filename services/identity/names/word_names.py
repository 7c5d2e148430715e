"""Words that are names as well: whether one may name somebody where it stands. Pure."""

from collections.abc import Sequence
from datetime import date

from services.identity.names.name_signs import is_no_word
from services.identity.names.person import Person
from services.language.charts.chart_entries import measured_nouns, words_of_questions
from services.language.figures.full_dates import full_dates, month_numbers
from services.language.people.ages_told import age_behind
from services.language.people.descriptions import things_asked, values_asked
from services.language.people.mentions import HYPHENS, Message
from services.language.people.named_person import is_known_name, is_only_a_name, is_ordinary_name
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_listed_nowhere, left_over_in
from services.language.told.telling import is_told
from services.language.words.letters import spellings
from services.language.words.people_words import names_that_are_words, of_people
from services.language.words.phrases import words_for
from services.language.words.statement_tables import stem, stems_told
from services.language.words.statement_words import is_clinical_name, ordinary_words
from services.language.words.vocabulary import drug_words

_SHORT_LETTERS = 3
_NO_NAMES = (
    "no_names", "organs", "of_scans", "places", "beside_values", "seasons", "definite", "articles",
    "owners",
)  # fmt: skip
_BESIDE = ("particles", "opening", "newest", "lingers", "leads_to_whom")


def is_allergen(word: Word) -> bool:
    """Whether no name stands before an allergy: `adhesive plaster allergy?`, `Cow milk IgE`."""
    told = of_people("of_antigens", *(["of_allergens"] if word.raw.islower() else []))
    return bool(told & {word.after, word.beyond}) and not is_only_a_name(word.text)


def is_name_and_word(word: Word) -> bool:
    """Whether it is a word that many are called by, and may be a name here: `dole`, `bakers`."""
    single, is_asked = word.text.removesuffix("s"), word.text in words_of_questions()
    is_listed = word.is_in("surnames", "surnames_too")
    is_other = not (is_listed or word.is_in("of_no_value"))
    is_other &= is_asked or word.is_in("qualities")
    is_other |= is_allergen(word) or single in words_for("weekday")
    is_named = (word.heads and word.is_in("surnames_too")) or word.is_in("given_too")
    is_other |= word.is_in("seasons") and not is_named  # not of `Winter: Kalium?`
    is_other |= word.text in month_numbers() or word.is_of_a_thing or word.is_surely_eponym
    is_other |= word.is_in("verbs_too") and word.after in of_people("opening")  # `will need a ct`
    is_other |= word.gap in HYPHENS or word.after in of_people("about")  # `x-ray`, `price of`
    both = {single, word.text}
    names = both & names_that_are_words() | both & of_people("given_too")
    is_owner = is_known_name(single) and not is_ordinary_name(single) and is_no_word(word)
    is_owner = single != word.text and not is_asked and (is_owner or single in names)
    return not is_other and (is_listed or is_owner or word.text in names)  # `delgados psa`


def is_another_subject(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether words stand behind who was named, or are compared: `npo and cook for ct`."""
    is_word = span[0].is_in("qualities", "verbs_too") or span[0].text in words_of_questions()
    is_joined = not of_people("parting", "joins").isdisjoint((span[0].before, span[-1].after))
    is_joined = is_joined and span[0].text not in month_numbers()
    is_joined = is_joined and any(one.is_in("compares") for one in run)
    is_set_off = span[-1].heads and not {*";\n"}.isdisjoint(span[0].gap)  # `cruz: k; rose: temp`
    is_led = span[0].before in of_people("parting")
    is_led &= span[-1].after in of_people("copulas", "for_whom")
    return is_joined or (not is_word and (is_led or is_set_off))


def is_beside_a_value(span: tuple[Word, ...]) -> bool:
    """Whether a thing asked of a chart, a drug, or what somebody does, stands beside a name.

    `hold grant apixaban`, `sharp transferred to icu`.
    """
    last = span[-1]
    behind = last.beyond if last.after in of_people("newest") else last.after
    is_thing = span[0].is_of_a_thing or last.has_number
    is_said = behind in drug_words() or (span[0].is_first and behind.endswith(("ed", "ing")))
    values = things_asked() - of_people("organs", "values_of_places", "sizes_of_things")
    return not is_thing and (is_said or not values.isdisjoint((span[0].before, behind)))


def is_all_but_name(word: Word, rest: Sequence[Word]) -> bool:
    """Whether a value or drug is asked for, and nothing stands beside but names: `last hb dole`."""
    organs = of_people("organs", "of_scans")
    said = {one.text for one in rest}
    values = said & values_asked("found_of_one", *(["scans"] * (word.text not in organs)))
    values |= (said & drug_words()) - of_people("leads_to_whom")
    if word.is_in("eponyms") and not word.is_in("surnames_too"):
        values = said & measured_nouns()  # no `lynch panel`
    beside = organs | of_people("beside_values", *_BESIDE)
    left = {one.text for one in rest if len(one.raw) > 1} - values - beside
    left = left - names_that_are_words() - of_people("given_only")
    return all(map(is_only_a_name, left)) and word.before != "how" and bool(values)


def is_left_over(message: Message, word: Word) -> bool:
    """Whether a value is asked for, and no answer goes back to this one word: `early lipids`."""
    if word.text not in (left := left_over_in(message.text)):
        return False
    rest = {one.text for one in message.around(word)} - {word.text}
    is_led = word.before in of_people("about", "for_whom", "called_patients")
    asked = word.beyond if word.after in of_people("newest") else word.after
    values = ({*rest, word.before, asked} & things_asked()) - of_people(
        "values_of_places", "sizes_of_things"
    )
    is_found = word.gap.isspace() and is_told(message.text)  # `urine protein trace`
    is_beside = word.closes and (is_led or (word.before in values and not is_found))
    is_beside |= (word.is_first or is_led) and asked in values
    is_asked = is_beside and not values.isdisjoint(rest) and left.isdisjoint(rest)
    single = word.text.removesuffix("s")
    is_word = word.is_in(*_NO_NAMES) or word.is_of_a_thing or word.is_in_date
    is_month = word.text in month_numbers() and not word.heads
    is_word |= is_month and asked not in measured_nouns()  # `june bloods`, but not `june creat`
    is_word |= stem(word.text) in stems_told("body") or len(single) < _SHORT_LETTERS
    is_name = is_known_name(word.text) or is_known_name(single)
    is_name &= word.raw.istitle() or all(map(is_known_name, spellings(word.raw)))
    is_name &= not (word.heads and word.is_common and single == word.text)  # `key labs`
    heads = word.is_first or word.title == "patient"
    is_name |= heads and is_no_word(word) and is_listed_nowhere(word.text)
    return is_asked and is_name and not is_word


def is_in_use(word: Word) -> bool:
    """Whether a name is so usual as a word, or so clinical, that it names nobody by itself."""
    is_short = len(word.raw) <= _SHORT_LETTERS and not word.raw.istitle()
    is_ordinary = is_ordinary_name(word.text) and not word.is_capital
    is_ordinary |= word.text in words_of_questions() or word.is_in("no_names", "places")
    is_ordinary |= word.has_number and word.is_in("drugs_numbered")  # `Diane 35`
    is_asked = is_surname_too(word)
    is_term = word.is_in_date or is_clinical_name(stem(word.text))
    is_term |= word.is_first and word.closes and word.raw.islower() and word.text in drug_words()
    is_term |= word.is_eponym and not is_asked
    # "hört" is a name only as Hort; a surname in small letters is one in every spelling: "müller".
    is_verb = word.raw.islower() and not all(map(is_known_name, spellings(word.raw)))
    is_ordinary = is_ordinary or (is_verb and word.text in ordinary_words())
    return is_short or is_term or (is_ordinary and not is_asked)


def is_surname_too(word: Word) -> bool:
    """Whether a surname that is a word as well heads what is asked: `Ward: crp?`, no `ward crp`."""
    is_written = word.raw.istitle() and word.is_in("surnames_written")
    is_called = word.before in of_people("called_patients")  # `pt baker in clinic, tsh?`
    is_asked = word.heads or word.after in measured_nouns() or is_called
    return (word.is_first or is_called) and is_asked and (is_written or word.is_in("surnames_too"))


def is_told_closer(text: str, last: Word, people: Sequence[Person], today: date | None) -> bool:
    """Whether age, room or a date of long ago is behind: `long 59 k`, `long (23 Sep 1967)`."""
    age = age_behind(text, last.end, born=(one.born_on for one in people), today=today)
    gaps = ((one, text[last.end : one.start]) for one in full_dates(text))
    is_dated = any(gap in (" ", " (", ", ") and one.is_long_ago(today) for one, gap in gaps)
    return age is not None or last.after in of_people("places") or is_dated


def asks_values_alone(words: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether nothing stands beside a name but values, and the newest of them: `last hb koch`."""
    rest = [one for one in words if one not in span]
    values = [one for one in rest if one.text in values_asked()]
    return bool(values) and all(one.is_in("newest", "lingers") for one in rest if one not in values)

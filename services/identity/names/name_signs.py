"""What the place of words in a message says of whether they are a name. Pure."""

from collections.abc import Sequence

from services.identity.names.covers import given_words
from services.identity.names.person import Person
from services.language.charts.chart_entries import chart_nouns, measured_nouns, words_of_questions
from services.language.figures.full_dates import month_numbers
from services.language.people.descriptions import first_parts, things_asked, values_asked
from services.language.people.mentions import HYPHENS, Message
from services.language.people.named_person import is_known_name, is_short_for
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange
from services.language.words.letters import folded
from services.language.words.people_words import common_words, names_that_are_words, of_people
from services.language.words.phrases import says, words_for
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name, ordinary_words
from services.language.words.vocabulary import drug_words

_SHORT_LETTERS = 3
_LEAST_LEAD, _LEAST_END = 4, 6


def fills_a_clause(span: tuple[Word, ...]) -> bool:
    """Whether all the words stand where one name would: `open will grant`."""
    if span[0].is_first and span[-1].closes and len(span) > 1:
        return True
    leads = of_people("opening_verbs", "before_names", "set_against", "moves_on")
    opens = span[0].before in leads - of_people("articles") or "," in span[0].gap
    return len(span) > 1 and opens and span[-1].closes


def is_sure_sign(span: tuple[Word, ...]) -> bool:
    """Whether a title, a possessive or a heading says that words are a name."""
    if any(one.title in ("man", "woman", "patient") or one.is_owner for one in span):
        return True
    # A small word of common language before a comma is no heading: `rose, squameux`.
    return span[0].is_heading and (span[0].raw[0].isupper() or not span[0].is_common)


def is_strange_subject(run: Sequence[Word], word: Word) -> bool:
    """Whether a word of no vocabulary stands where whom one asks about does: `kwitzon k?`."""
    is_name = word.title in (None, "patient") and not (word.raw.isupper() or word.is_in_date)
    led_by_nobody = of_people("definite", "articles") - of_people("tells")
    is_name = is_name and not (word.before in led_by_nobody or word.is_derived)
    is_name = is_name and (word.is_owner or word.after not in of_people("told_first_by"))
    is_name &= not says(word.after, "a_dose" if word.has_number else "a_form")  # `x 8mg`, `x gel`
    # `haverford is spiking`; no slip in a word that asks is so long: `waht is`
    does = word.is_first and len(word.raw) > _SHORT_LETTERS + 1 and not word.closes
    does &= word.after in of_people("auxiliaries")
    is_name = is_name and (does or stands_for_somebody(run, word))
    return is_name and is_no_word(word) and is_strange(word.text)


def stands_for_somebody(run: Sequence[Word], word: Word) -> bool:
    """Whether only a name stands in that place: before a value, behind one, before what one does.

    `kwitzon k?`, `crea kwitzon`, `cbc for kwitzon`, `note: kwitzon fell`, `has kwitzon had a CT?`.
    """
    at = word.at - run[0].at
    leads = of_people("moves_on", "joins", "opening", "tells", "called_patients")
    begins = not run[0].before and all(one.text in leads for one in run[:at])
    # `kwitzon pcn allergy?`, and not `mark the allergy`, `Stark erhöhtes CRP`
    is_near = begins and not (word.is_common or word.is_in("titles_of_men", "titles_of_women"))
    is_near &= word.after not in of_people("behind_places", "definite", "articles")
    is_near |= word.after in of_people("newest")
    of_what = {word.after, word.beyond if is_near else ""}
    joins, of_whom = of_people("joins"), of_people("about", "for_whom")
    is_one = at > 1 and word.closes and run[at - 2].before in of_whom  # `crp of koch and kwitzon`
    is_one = is_one and not is_clinical_name(stem(run[at - 2].text))  # `hx of ulcers or polyps`
    is_pair = word.before in joins and (is_one or word.heads)
    is_pair |= word.after in joins and word.before in of_whom
    is_pair |= bool(joins & {word.before, word.after}) and any(one.is_in("compares") for one in run)
    is_pair |= "(" in word.gap and word.closes and not word.is_in("qualities")  # `hb (koch)`
    does = begins and word.after in of_people("people_do") and not word.closes
    if is_pair or does:
        return True
    given = run[at - 1] if at > 1 and all(one.text in leads for one in run[: at - 1]) else word
    if given is not word and given.raw.istitle() and is_strange(given.text) and word.closes:
        return True  # `switch to Zelda Quix`
    return (begins or word.text.endswith("s")) and bool(of_what & things_asked())


def is_labelled(message: Message, run: Sequence[Word], place: int) -> bool:
    """Whether a pasted text calls an unknown word its patient's name: `Name: Thornbury, Jo`."""
    word = run[place]
    label = message.text[: word.start - len(word.gap)].rpartition("\n")[2].strip()
    is_led = ":" in word.gap and "\n" not in word.gap
    is_led = is_led and folded(label) in of_people("labels_of_names")
    return is_led and word.raw[0].isupper() and not word.raw.isupper() and is_no_word(word)


def is_unknown_owner(word: Word) -> bool:
    """Whether part of a chart is said to be a stranger's: `Kowalski's potassium`."""
    is_led = word.before in of_people("definite", "newest")  # `the day's weight`
    is_word = is_led or word.is_surely_eponym  # `wilson's disease`
    is_name = is_no_word(word) or (word.text in names_that_are_words() and not is_word)
    is_long = len(word.raw) > _SHORT_LETTERS or (word.raw.istitle() and is_strange(word.text))
    return is_name and is_long and not word.raw.isupper() and asks_for_chart(word) and word.is_owner


def asks_for_chart(owner: Word) -> bool:
    """Whether what is owned is part of a chart: `…'s potassium`, `…'s last potassium`."""
    if not of_people("staff_things").isdisjoint((owner.after, owner.beyond)):
        return False  # `Keller's last note`: who wrote it
    noun = owner.beyond if owner.after in of_people("plain_patients") else owner.after
    return noun in first_parts(chart_nouns()) or noun in of_people("chart_things")


def is_no_word(word: Word) -> bool:
    """Whether it is no common word, no term of medicine, no staff, no state: `pt anuric bp`."""
    is_term = word.is_eponym or is_clinical_name(stem(word.text))
    is_day = word.is_in_date or word.text in words_for("weekday")
    is_word = word.is_common or is_term or is_day or is_compound(word)
    is_word |= word.text in values_asked()
    is_word |= bool(word.title) and word.text.endswith(tuple(of_people("endings_of_states")))
    return word.title in (None, "patient") and not is_word


def is_compound(word: Word) -> bool:
    """Whether a word ends with another one of common language: `Angehörigengespräch Grimes`."""
    if is_known_name(word.text):
        return False
    text = word.raw.casefold()
    ends = range(_LEAST_LEAD, len(text) - _LEAST_END + 1)
    return any(stem(text[at:]) in ordinary_words() or text[at:] in chart_nouns() for at in ends)


def is_first_name_before(word: Word, family: Word) -> bool:
    """Whether a word of common language is a first name here: `sean doyle's glucose?`."""
    is_name = word.text not in common_words() and is_known_name(word.text)
    if is_name or word.is_in("given_only"):
        return True  # `Hans`, whose form without its s is a word
    if word.is_in("verbs_too"):
        is_all = not family.beyond or family.after in of_people("plain_patients")
        return is_all and (family.is_owner or word.raw[0].isupper())
    return word.is_in("given_too") and (word.raw[0].isupper() or family.is_owner)


def is_surely_name(word: Word, own: Person | None) -> bool:
    """Whether a word is a name, and neither `own` nor of any chart: `is peter hauck septic`."""
    if own is not None and is_short_for(word.text, given_words(own)):
        return False
    known = (words_of_questions(), chart_nouns(), drug_words())
    is_asked = any(word.text in one for one in known)
    is_name = is_known_name(word.text) and is_no_word(word) and not is_asked
    return is_name or word.is_in("given_only")


def is_clinical(text: str) -> bool:
    """Whether a word, folded, is a name of medicine: no person is called so."""
    return bool(text) and is_clinical_name(stem(text))


def is_alone(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name with a capital heads the message, or is all of it: `Kurz: …`, `Joy?`."""
    first = span[0]
    is_written = first.raw[0].isupper() or run[-1].is_in("tells", "again")  # `stein bitte`
    return is_written and (
        is_all_said(run, span) or first.is_heading or (first.is_first and span[-1].closes)
    )


def is_all_said(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name is all of the message, but for "please" or "next"."""
    is_begun = run[0] is span[0] and run[-1].closes
    is_begun &= span[0].is_first or "?" in span[0].gap
    return is_begun and of_people("lingers").issuperset(one.text for one in run[len(span) :])


def is_spoken_of(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether somebody is meant, be the name a word: all that is said, told of, or of a figure."""
    return not span[0].is_in_date and (
        is_all_said(run, span)
        or is_beside_a_figure(run, span)
        or is_told_something(run, span)
        or is_joined_to_the_open_one(run, span)
        or is_no_quality_of(span[0])
    )


def is_beside_a_figure(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a value is told of the bearer of a name: `lab called cross k 2.9`, `k 2.9 cross`."""
    behind, values = word_behind(run, span), measured_nouns()
    is_told = behind is not None and behind.gap == " " and behind.has_number
    is_told = is_told and span[-1].after in values
    is_told |= span[0].gap.strip()[:1].isdigit() and span[0].before in values
    lead = run[max(span[0].at - run[0].at - 1, 0)]  # `temp 39 in cross`
    is_led = lead.is_in("about", "for_whom", "within") and lead.before in values
    is_told |= is_led and lead.gap.strip()[:1].isdigit() and span[-1].closes
    return is_told and not (span[0].is_in_date or span[0].text in month_numbers())


def is_joined_to_the_open_one(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name is told with whom a pronoun stands for: `ct for her and banks`."""
    at = span[0].at - run[0].at
    if not at or not span[0].before or span[0].before not in of_people("joins"):
        return False
    is_dosed = span[-1].has_number and any(one.is_in("pronouns") for one in run[:at])
    return (at > 1 and run[at - 2].is_in("pronouns") and span[-1].closes) or is_dosed


def is_turned_to(run: Sequence[Word], span: tuple[Word, ...], *, goes_on: bool = False) -> bool:
    """Whether a name ends the clause, or `goes_on`, behind what but leads to one: `und koch?`."""
    leads = of_people("opening", "moves_on", "others", "next_one", "again")
    at = span[0].at - run[0].at
    goes_on = goes_on and span[0].text not in words_of_questions()  # `what stage is it`
    ends = (goes_on or span[-1].closes) and span[0].text not in leads
    if span[0].is_in("qualities") and not any(one.is_in("moving") for one in run[: at - 1]):
        ends &= span[0].before not in of_people("to", "again")  # `wieder zu klein?`
    begins = run[0].is_first or not run[0].before  # `thanks. now kurz`
    return ends and at > 0 and begins and all(one.text in leads for one in run[:at])


def is_genitive(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name owns the noun behind it as in German: `Kochs Befund`, `Kochs letzter Wert`."""
    last, behind = span[-1], word_behind(run, span)
    if behind is not None and behind.is_in("newest"):
        behind = word_behind(run, (behind,))
    is_owned = behind is not None and behind.gap == " " and behind.raw[0].isupper()
    return is_owned and last.raw[0].isupper() and last.raw.endswith("s")


def is_signed(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a name stands so: capitals, titles, places; lower-case common words need a sign."""
    joins = of_people("joins") | {"w", "with", "mit"}
    with_kin = span[-1].after in joins and span[-1].beyond in of_people("relatives")
    return (
        with_kin  # `met w grant and husband`
        or any(one.stands_as_name for one in span)
        or fills_a_clause(span)
        or is_genitive(run, span)
        or stands_before_a_name(run, span)
    )


def stands_before_a_name(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a word of no language follows as a family name would: `Grace Hil's bloods`."""
    behind = word_behind(run, span)
    if behind is None or behind.gap != " " or not span[0].raw[0].isupper():
        return False
    is_written = behind.raw[0].isupper() and not behind.raw.isupper()
    return is_written and not (behind.is_common or behind.is_eponym or is_clinical(behind.text))


def begins_a_chart_question(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether the message is a name and what is wanted of the chart: `koch ferritin`.

    Or what is told of them: `Koch has fever`.
    """
    behind = word_behind(run, span)
    if behind is None or behind.gap != " " or not span[0].is_first or span[0].is_in_date:
        return False
    if is_clinical(behind.text) or (behind.text == "on" and is_clinical(behind.after)):
        return True  # `grant on metformin?`
    is_verb = span[0].is_in("verbs_too") and len(run) > 2  # `grant allergies` is all said
    asked = behind.after if behind.is_in("newest") else behind.text
    is_quality = span[0].is_in("qualities")
    if is_quality and span[0].is_in("of_no_value"):
        return asked in values_asked()
    if is_verb or is_quality or span[0].is_in("newest", "opening", "moves_on"):
        return False
    is_asked = asked in values_asked() or asked in chart_nouns()
    is_asked |= behind.is_in("joins") and behind.after in of_people("owners")  # `head and her k`
    return is_asked or is_told_something(run, span)


def may_be_no_name(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether words of common language may be no name: asked about.

    They only begin the message, or some have capitals and others none: `please chase Banks`.
    """
    if not all(one.is_common for one in span):
        return False
    is_mixed = any(one.raw[0].isupper() for one in span) and any(one.raw.islower() for one in span)
    return is_mixed or not (is_signed(run, span) or begins_a_chart_question(run, span))


def is_told_something(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a clause begins with a name and what its bearer does or is: `Dana just called`."""
    behind, first = word_behind(run, span), span[0]
    begins = first.is_first or not first.before or "," in first.gap
    if behind is None or not begins or first.is_in_date or behind.gap != " ":
        return False
    is_done = behind.is_in("people_do", "states_of_people")  # `head crashed`
    is_done |= behind.is_in("does_or_is") and not behind.is_in("copulas")  # `cross has a fever`
    is_done |= behind.is_in("copulas") and behind.after in of_people("states_of_people")
    if first.raw.islower() and first.is_in("verbs_too", "qualities"):
        return False
    is_name = first.is_first and (first.raw[0].isupper() or not first.is_common)
    return is_done or (is_name and behind.is_in("does_or_is"))


def is_part_of_another_name(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether it is half of a name of no person: `Stein-Leventhal`, `Klein-Hohenheim`."""
    words = (*span, *filter(None, [word_behind(run, span)]))
    is_half = is_half_of_a_name(run, span) or any(one.is_in_pair for one in span)
    return is_half and not any(one.title is not None or one.is_owner for one in words)


def is_half_of_a_name(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a hyphen joins the words with others."""
    behind = word_behind(run, span)
    is_led = span[0].before in of_people("particles")  # `al-Rashid`
    is_before = span[0].gap in HYPHENS and run[0] is not span[0] and not is_led
    return is_before or (behind is not None and behind.gap in HYPHENS and len(behind.raw) > 1)


def word_behind(run: Sequence[Word], span: tuple[Word, ...]) -> Word | None:
    """Return the word of the run that stands behind `span`."""
    at = span[-1].at - run[0].at + 1
    return run[at] if at < len(run) else None


def is_before_a_family_name(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether an unknown family name follows of whom something is asked: `Ann Hil: bloods`."""
    behind = word_behind(run, span)
    if behind is None or not stands_before_a_name(run, span):
        return False
    return behind.is_owner or behind.heads or asks_for_chart(behind) or is_clinical(behind.after)


def contradicts(span: Sequence[Word], person: Person) -> bool:
    """Whether a title before the name is not that of the person's recorded sex."""
    title = next((one.title for one in span if one.title is not None), None)
    return (title, person.sex) in (("man", "female"), ("woman", "male"))


def is_no_quality_of(word: Word) -> bool:
    """Whether it is a quality that what is measured cannot have: `crea gross`."""
    is_quality = word.is_in("of_no_value") and word.text != "hoch"
    is_value = word.before in measured_nouns() and word.before not in of_people("organs")
    return is_quality and word.closes and is_value

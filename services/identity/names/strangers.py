"""Names in a message that nobody of the directory has: whoever they are, it is not the open one."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from rapidfuzz.distance import OSA

from services.identity.names import beside, word_names
from services.identity.names import name_signs as signs
from services.identity.names.covers import given_words, name_words
from services.identity.names.person import Person
from services.language.charts.chart_entries import chart_nouns, measured_nouns, words_of_questions
from services.language.people.descriptions import values_asked
from services.language.people.mentions import HYPHENS, Message
from services.language.people.name_runs import is_behind_letter
from services.language.people.named_person import is_known_name, is_ordinary_name, is_short_for
from services.language.people.pointed_at import asks_behind
from services.language.people.signed_word import Word
from services.language.people.strange_words import in_long_names_of, is_strange
from services.language.people.whom_about import is_met
from services.language.words.detection import language_of
from services.language.words.letters import folded, sounds
from services.language.words.people_words import of_people
from services.language.words.phrases import says
from services.language.words.statement_tables import stem, stems_told
from services.language.words.statement_words import is_clinical_name

_SHORT_LETTERS, _NEAREST = 3, 0.6
_NO_HEADS = ("opening", "moves_on", "lingers", "seasons", "newest", "staff", "chart_things")
_Span = tuple[Word, ...]
_Names = Collection[frozenset[str]]


def strangers_in(
    message: Message,
    run: Sequence[Word],
    free: Collection[int],
    known_by_hit: Collection[int],
    others: _Names,
    own: Person | None,
    roster: Sequence[Person],
) -> Iterable[_Span]:
    """Yield the words of `run` that name a stranger.

    Args:
        free: Places of the run that explain nobody's name.
        known_by_hit: Those of them at which a word of somebody's name stands nevertheless.
        others: Names of relatives, contacts and staff, as sets of folded words.
        own: Who is open.
        roster: Whose letters stand for them though they are an abbreviation as well.
    """
    for place in sorted(free):
        word, has_hit = run[place], place in known_by_hit
        is_own = own is not None and is_short_for(word.text, given_words(own))
        if is_own or word.is_in_pair or word_names.is_allergen(word):
            continue
        if word.text in in_long_names_of(message.text) and not (word.heads or word.is_owner):
            continue
        if (letters := _initials(message, run, place, roster)) and not _are_initials_of(
            own, letters, word
        ):
            yield (*run[place - 1 : place], word) if len(letters) > len(word.text) else (word,)
            continue
        if signs.is_labelled(message, run, place) or _heads_as_name(message, run, place, others):
            yield (word, *run[place + 1 : place + 2])
            continue
        owns = signs.is_unknown_owner(word) or signs.is_strange_subject(run, word)
        is_asked_of = not owns and _is_name_in_a_chart_question(message, word, others)
        owns = owns or (is_asked_of and not _is_said_by_or_to(message, word))
        wholes = (word,), tuple(run[max(place - 1, 0) : place + 1]), tuple(run[place : place + 2])
        owns = owns and not any(beside.is_way_to_reach(run, whole) for whole in wholes)
        owns = owns and not beside.is_name_beside(run, (word,), others)
        owns = owns and (is_behind_letter(run, place) or not has_hit)
        owns = owns and not (word.before in of_people("met_at") and is_met(message.text, word.raw))
        if owns or _is_titled(run, word, others, has_hit=has_hit, is_open=own is not None):
            yield (word,)


def _heads_as_name(message: Message, run: Sequence[Word], place: int, others: _Names) -> bool:
    """Whether a first name heads a value with a name of no list behind it: `Ray Parkinson: crp?`.

    `EWA DĄBROWSKA: crp?`, `pt Parkinson: crp?`, `Webb: crp?`
    """
    word, *behind = run[place : place + 2]
    last = behind[0] if behind else word
    asks = asks_behind(message.words, last) or _asks_in_another_language(message, word, last)
    if not (last.heads and asks) or last.text in measured_nouns():
        return False
    if last is not word and last.raw.islower() and last.text in words_of_questions():
        return False  # `max serum: …`
    is_name = is_known_name(last.text) or (last.raw[0].isupper() and is_strange(last.text))
    if last is word or not is_name or beside.is_name_beside(run, (word,), others):
        is_name |= word.is_in("surnames_written") and word.raw.istitle()  # `Ng: creat`
        is_and_word = word_names.is_name_and_word(word) and not word.is_in("organs")
        is_head = is_and_word or not (word_names.is_in_use(word) or word.is_in(*_NO_HEADS))
        is_head &= word.is_first and word.raw.istitle()
        is_called = not word.is_common or word.raw.istitle() or is_and_word
        is_called &= word.before in of_people("called_patients")
        return is_name and (
            is_called or (last is word and (is_head or word_names.is_surname_too(word)))
        )
    is_begun = word.is_first and is_known_name(word.text) and last.gap not in HYPHENS
    is_word = word.is_common or word.is_in("owners", "titles_of_patients", "definite")
    is_given = not is_word or word.is_in("given_too")
    return is_begun and is_given and not (last.is_common and last.raw.islower())


def _asks_in_another_language(message: Message, word: Word, last: Word) -> bool:
    """Whether one word follows that may be a value: `Ferrari: potassio`, `Lena Roos: trombo`."""
    rest = message.words[last.at + 1 :]
    if len(rest) != 1 or rest[0].is_common or last.is_eponym:
        return False
    return last is not word or (is_known_name(last.text) and is_strange(rest[0].text))


def _initials(message: Message, run: Sequence[Word], place: int, roster: Sequence[Person]) -> str:
    """Return the letters that stand for somebody: `Mr K.`, `JD's creatinine`, `pt A.K.`."""
    word, last = run[place], run[max(place - 1, 0)]
    behind = run[place + 1] if place + 1 < len(run) else word
    if word.title in ("man", "woman") and len(word.raw) == 1:
        is_led = word.before in of_people("titles_of_men", "titles_of_women") | {"m"}
        is_named = behind.raw[0].isupper() and behind.text not in values_asked()
        is_letter = word.raw.isupper() or not word.is_common or message.text[word.end :][:1] == "."
        return word.text if is_led and is_letter and (behind is word or not is_named) else ""
    is_dotted = last is not word and len(last.raw) == len(word.raw) == 1
    is_dotted &= word.gap.strip() in (".", ".,") and last.text + word.text not in of_people(
        "dotted"
    )
    is_single = len(word.raw) == 1 and word.before in of_people("called_patients") and word.closes
    is_single = is_single and "," not in word.gap  # `the patient, K?`
    is_pair = len(word.raw) == 2 and not is_clinical_name(stem(word.text))
    is_listed = word.text in words_of_questions() or word.text in of_people("letter_pairs")
    heads_value = word.heads and word.after in values_asked()
    is_known = heads_value and any(_are_initials_of(one, word.text, word) for one in roster)
    is_sexed = message.text[word.end : word.end + 3].lower() in (" (m", " (f", " (w")  # `JD (m)`
    is_called = word.heads and word.before in of_people("called_patients")  # `pt PB: crp?`
    is_known = is_known or is_sexed or is_called
    is_pair = is_pair and (word.is_owner or not is_listed or is_known)
    if _is_half_initial(word, last):
        return last.text + word.text
    is_shouted = message.text.isupper() and len(message.words) > 1
    is_number = any(map(str.isdigit, message.text[word.end : word.end + 3]))  # `WD-004104`
    first = last if is_dotted else word
    begins = first.is_first and (word.heads or word.closes or behind.text in values_asked())
    is_typed = word.raw.isupper() or (first.is_first and (heads_value or (begins and is_dotted)))
    if is_shouted or is_number or not is_typed or not (is_dotted or is_pair or is_single):
        return ""
    is_asked = word.is_owner and signs.asks_for_chart(word)
    is_led = first.before in of_people("called_patients", "made_for") or (
        first.before in of_people("topics", "leads_to_whom" if heads_value else "topics")
        and word.closes
    )
    letters = first.text + word.text if is_dotted else word.text
    # Not of `I.V.`, `seen by A. B.`, `A. B. Miller`.
    is_spelled = (is_dotted and last.raw.isupper() and word.title is None) and not (
        first.before in of_people("not_asked")
        or (behind is not word and is_known_name(behind.text))
    )
    return letters if begins or is_asked or is_led or is_sexed or is_spelled else ""


def _is_half_initial(word: Word, last: Word) -> bool:
    """Whether the heading is a name with one half a letter: `Dolores I: Hb`, `I. Wolf: Hb`."""
    letter, name = (word, last) if len(word.raw) == 1 else (last, word)
    is_told = word.heads and last.is_first and len(letter.raw) == 1 < len(name.raw)
    is_told &= word.gap not in HYPHENS  # `X-ray: when`
    is_told = is_told and not (name.is_in("titles_of_patients") or letter.raw in ("a", "n"))
    is_name = is_known_name(name.text) and (name.raw.istitle() or not is_ordinary_name(name.text))
    is_name &= not is_clinical_name(stem(name.text)) and name.text not in values_asked()
    return is_told and is_name


def _are_initials_of(person: Person | None, letters: str, word: Word) -> bool:
    if person is None or signs.contradicts((word,), person):
        return False
    names = [one for name in person.names for one in (*name.given, name.family)]
    return not Counter(letters) - Counter(folded(one)[:1] for one in names)


def nearest_to(span: _Span, words: str, people: Iterable[Person]) -> Iterable[Person]:
    """Yield whose initials or name what nobody is called is nearest to: `J.D.`, `hartmut`."""
    letters, sound = "".join(filter(str.isalpha, folded(words))), sounds(span[-1].text)
    for one in people:
        said = (sounds(word) for word in name_words(one))
        is_near = any(OSA.normalized_similarity(sound, each) >= _NEAREST for each in said)
        is_short = len(letters) < _SHORT_LETTERS
        if _are_initials_of(one, letters, span[-1]) if is_short else is_near:
            yield one


def _is_titled(
    run: Sequence[Word], word: Word, others: _Names, *, has_hit: bool, is_open: bool
) -> bool:
    """Whether a title makes a word a name that nobody has: Frau Müller, but not Frau Doktor."""
    if (
        word.title == "patient"
        and len(word.raw) <= _SHORT_LETTERS
        and not signs.is_clinical(word.text)
    ):
        return word.heads and word.raw.istitle() and not has_hit  # `patient Li: INR?`
    if word.title in ("staff", "relative"):
        # `Prof. Koch - Hb?`, `Herr Doktor Brenner: Kalium?`, `Baby Schulz: Bili?`
        return word.heads and word in run[:3] and word.after in measured_nouns()
    if word.title not in ("man", "woman") or len(word.raw) < 2:
        return False
    is_carried = word.before not in of_people("titles_of_men", "titles_of_women") | {"m"}
    is_short_form = word.raw.isupper() and not all(one.raw.isupper() for one in run)
    is_term = is_clinical_name(stem(word.text)) or stem(word.text) in stems_told("body")
    is_thing = is_short_form or word.text in values_asked() or (is_term and not word.heads)
    if is_carried and (is_thing or signs.is_compound(word)):
        return False  # `Herr Gross Kalium`, `Herr Gross LDH`, `Frau Gross Ramipril?`
    is_written = word.is_in("surnames_written")  # `mrs ng hb`
    is_typed = word.raw.istitle() or is_written or (word.heads and is_known_name(word.text))
    is_role = word.is_in("staff", "relatives", "titles_of_patients") or not is_typed
    if word.is_in("joins", "people_do") or (word.is_common and not word.is_owner and is_role):
        return False
    if beside.is_name_beside(run, (word,), others) or (has_hit and not is_open):
        return False
    is_name = len(word.before) > _SHORT_LETTERS or is_known_name(word.text)
    is_name = is_name or is_written or is_strange(word.text)
    is_term = (is_term or word.is_common) and not word.heads
    is_name = is_name and not (is_carried or is_term)
    return word.raw[0].isupper() or word.is_owner or is_name


def _is_name_in_a_chart_question(message: Message, word: Word, others: _Names) -> bool:
    """Whether somebody's name stands where a chart is asked for: `is nakamura on warfarin?`.

    Of a name that is a word of common language, too, only `Müller Kalium`, for nothing else may
    stand there.
    """
    is_score = word.after in of_people("told_first_by") and not word.is_owner
    is_score |= word.before in of_people("newest") and not word.is_owner
    if word.title in ("staff", "relative") or message.registers or is_score:
        return False
    if any(word.text in name for name in others):
        return False
    if word_names.is_left_over(message, word):
        return True
    rest = [one for one in message.around(word) if one is not word]
    if word_names.is_name_and_word(word):
        is_patient = word.raw[0].isupper() or word.is_in("surnames_too")
        is_patient &= word.closes or word.after in of_people("within")  # `pt Bell in clinic`
        if (is_patient and word.title == "patient") or word_names.is_all_but_name(word, rest):
            return True
    if word.is_common or not is_known_name(word.text):
        return False
    is_told = word.is_first and word.after in of_people("does_or_is")  # "thomas called"
    is_told = is_told and not (word.is_eponym and word.beyond in of_people("found_of_signs"))
    in_use = word_names.is_in_use(word) and not (is_told and word.is_eponym)
    if in_use or (word.is_owner and not signs.asks_for_chart(word)):
        return False
    # `is nakamura also PD-L1 positive?`, whatever is asked of them
    is_asked = word.before in of_people("auxiliaries") and not word.closes
    first = message.words[max(word.at - 1, 0)]  # `¿qué toma Ramón Guzmán?`
    is_asked |= (
        first.before in of_people("person_verbs")
        and word.gap == " "
        and ((first.raw.istitle() and word.raw.istitle()) or is_known_name(first.text))
    )
    is_called = word.title == "patient" or is_asked or is_told
    said = {one.text for one in rest}
    is_of_chart = bool(said & of_people("chart_things") or said & chart_nouns())
    is_of_chart = is_of_chart or any(map(signs.is_clinical, said))
    opens = all(one.is_in("opening") or is_known_name(one.text) for one in rest)
    # `zimmerman walked in`: a name in every language, and no word of any
    is_no_other_word = len(word.text) > _SHORT_LETTERS + 1 and is_strange(word.text)
    is_no_other_word &= "@" not in message.text
    is_no_other_word &= word.raw.islower() or (word.is_first and not word.closes)
    heads = of_people("eponym_heads", "told_first_by", "behind_places", "joins")
    # `skene gland cyst?`, `synthroid or armour?`
    is_no_other_word &= heads.isdisjoint((word.before, word.after))
    is_no_other_word &= language_of(message.text, default="en") in ("en", "de")
    return is_called or opens or is_no_other_word or is_of_chart


def _is_said_by_or_to(message: Message, word: Word) -> bool:
    """Whether the name is that of a place, a drug, of who did something, or who is spoken to.

    `seen by Lopez?`, `tell Jenny that the CT is back`, and nobody whose chart is asked for.
    Of a task that is to go it is a word of its title: "delete the chase CT reminder".
    """
    if word.raw.islower() and says(message.text, "task") and says(message.text, "delete", "move"):
        return True
    if word.before in of_people("before_drugs") and word in message.words[:2]:  # `on yasmin?`
        return True
    is_led = not signs.is_turned_to(message.words, (word,))  # `back to kwitzon`
    is_led &= word.before in of_people("before_staff", "before_places")
    if is_led or word.after in of_people("behind_places"):
        return True
    if message.pronoun_at is not None and message.pronoun_at < word.start:
        return True
    # `tell me whether Lopez …` asks; `Peter called, tell her` does not.
    # Nor does `thanks. now kwitzon`.
    relatives, addressing = of_people("relatives"), of_people("addressing")
    near = message.around(word)
    return any(one.text in relatives and one.start < word.start for one in near) or any(
        one.text in addressing and behind.before and one.after not in of_people("asking")
        for one, behind in pairwise(near)
    )

"""Whether who is said to have noticed something is named, and what is told of a life. Pure."""

from collections.abc import Sequence

from services.language.people.named_person import doctors_named_in
from services.language.sentences.clauses import joined
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import statement_words
from services.statements.rows.fit import is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.rows import KnownRow, told_of

NO_STATEMENT = frozenset({"maybe", "no", "nothing", "first_person", "recorded"})


def is_noticed_by_other(sentence: Sentence, rows: KnownRows) -> bool:
    """Whether no row has a relative together with what he or she noticed; of staff, no source."""
    telling = [one for one in sentence.clauses if one.says("noticing")]
    telling = [one for one in telling if one.cues.isdisjoint({"maybe", "no", "nothing"})]
    if sentence.asks or sentence.is_question or not telling:
        return False
    clause = joined(telling)
    kin, staff = clause.words & saying("close_ones"), clause.words & saying("staff", "specialists")
    if not (who := (kin | staff).union(*doctors_named_in(sentence.text))):
        return False
    told = told_of(sentence.words).union(*(one.names for one in sentence.clauses))
    told -= who | saying("noticing")
    told = told - statement_words().neutral or told
    if kin:
        return not any(who <= row.words and told & row.words for row in rows.rows)
    of_source = [rows.by_source(ref) for ref in rows.sources]
    return bool(told) and not any(
        has_all(who | told, frozenset().union(*(row.words for row in own)))
        and all(any(is_measured(one, row) for row in own) for one in clause.quantities)
        and all(any(one.fits(each) for row in own for each in row.stages) for one in clause.stages)
        for own in of_source
    )


def tells_of_life(sentence: Sentence) -> bool:
    """Whether it is of how somebody lives, feels or is, or what a board or a guideline wants.

    No errand finds it.
    """
    errands = stems_told("things_done") - saying("who", "it")
    deciding = stems_told("deciding") | saying("confirmed")
    is_of_board = sentence.words & saying("boards", "specialists") and sentence.words & deciding
    return bool(is_of_board or sentence.words & saying("of_publications", "parts_seen")) or any(
        "about_patient" in one.cues
        and errands.isdisjoint(one.words)
        and not saying("of_a_life").isdisjoint((*one.words, *one.exclusive))
        for one in sentence.clauses
    )


def decided(words: frozenset[str]) -> frozenset[str]:
    """Return what somebody is said to have decided, or a team of doctors to have confirmed."""
    is_of_team = words & saying("specialists", "specialities")
    return words & (stems_told("deciding") | (saying("confirming") if is_of_team else set()))


def is_lone_claim(sentence: Sentence) -> bool:
    """Whether one word is all that is told of somebody: "Bedridden.", and not "Understood."."""
    told, known = next(iter(sentence.words), ""), statement_words()
    is_of_talk = told in saying("replying", "specialities") or told in known.fillers
    is_plain = told in known.neutral | known.spoken and told not in known.happening
    is_alone = len(sentence.text.split()) == 1 and sentence.text.rstrip("*_\n")[-1:] == "."
    return is_alone and (told in saying("of_a_life") or not (is_of_talk or is_plain))


def errands_unknown(sentence: Sentence, rows: Sequence[KnownRow]) -> bool:
    """Whether somebody is said to have, or to get, what no row says: "The GP has the letter"."""
    is_plain = not (sentence.is_heading or sentence.asks or sentence.refs or sentence.is_question)
    is_hypothetical = bool(sentence.words & saying("supposing"))
    for clause in sentence.clauses if is_plain else ():
        told = told_of(clause.words)
        told = told - statement_words().neutral or told
        promised = clause.words & saying("promised")
        is_told = "errands" in clause.cues or (
            promised and ("planned" in clause.cues or clause.says("gets"))
        )
        is_sure = clause.says("to_come") and not is_hypothetical
        days = clause.words & saying("days_to_come") if is_sure else frozenset()
        may_be = {"maybe"} | ({"first_person"} if clause.says("gets") else set())
        is_planned = "planned" in clause.cues or days
        is_open = clause.cues & NO_STATEMENT - (may_be if is_planned else set())
        # "Cardiology will see him on Monday."
        if (told := told | promised | days) and (is_told or days) and not is_open:
            return not any(has_all(told, row.words) for row in rows)
    return False

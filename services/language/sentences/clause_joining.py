"""How parts of a sentence go on with each other: what each takes over from the one before. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from services.language.figures.quantities import TIME_UNITS
from services.language.sentences import clause_lists as lists
from services.language.sentences.clauses import Clause, joined
from services.language.sentences.name_kinds import kind_of_name
from services.language.sentences.statement_parts import graded
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words

_INHERITED = frozenset(
    {"asserts", "takes", "ended", "current", "objects_follow", "when", "begun", "family", "maybe"}
)
_PRESSURES = frozenset({"=systolic blood pressure", "=diastolic blood pressure"})
_PRESSURE_UNIT = "mm[Hg]"
_KINDS = frozenset({"=allergy", "=medication", "=problem", "=procedure", "=immunization"})
_COURSES = frozenset({"rising", "falling", "steady"})
_JUDGED = frozenset({"high", "low", "normal"})
_EXTREMES = frozenset({"highest", "lowest"})
_NOW = frozenset({"newest", "current", "is_now"})
_OF_OTHER_TIMES = _COURSES | _EXTREMES | _NOW | {"before", "begun", "takes", "maybe"}
_OF_THEN, _GIVEN = frozenset({"begun", "when", "before"}), frozenset({"when", "objects_follow"})
_TITLE, _LEAD_CHARS = "dr", len("By the end of ")
_THAN_BEFORE = {"falling": "down", "rising": "up"}


def _tells_value_before(last: Clause, clause: Clause) -> bool:
    """Whether a clause says what a value was before: "84 kg in June, down from 87 kg in May"."""
    is_course = clause.cues & _COURSES or clause.says("up_or_down", "improved", "worsened")
    is_from = clause.says("from") and bool(is_course)
    is_from = (is_from or clause.says("compared")) and not clause.names
    is_time = any(one.unit in TIME_UNITS for one in clause.quantities)  # "than two years before"
    is_of_two = len(last.quantities) == len(clause.quantities) == 1 and not is_time
    return is_from and is_of_two and not last.differences


def _course(last: Clause, clause: Clause) -> Clause:
    """Return both as one, the earlier value first."""
    whole = _joined(clause, last)
    dates = whole.dates if len(last.dates) == len(clause.dates) else last.dates or clause.dates
    cues = whole.cues - {"newest", "current", "is_now", "begun"}
    cues |= {cue for cue, words in _THAN_BEFORE.items() if clause.says(words)}
    words = whole.words - saying("than", *_THAN_BEFORE.values())
    return replace(last, quantities=whole.quantities, dates=dates, cues=cues, words=words)


def _goes_on(last: Clause, clause: Clause) -> bool:
    """Whether a clause says more of what the last one speaks of, or names it."""
    is_denial = "no" in clause.cues and "no" not in last.cues and not _is_without(clause)
    is_lead = "current" in last.cues and len(last.words) == 1  # "Currently, no …"
    if is_denial and not lists.is_listed(last) and not is_lead:
        return False  # "marked shrinkage; no new lesion"
    is_of_habit = last.smoking != clause.smoking and "asserts" in clause.cues
    if (last.smoking and clause.smoking) or is_of_habit:
        return False  # "a never smoker until 2018, a daily one since", "quit in 1998 and drinks"
    kin = stems_told("family")
    if not clause.words.isdisjoint(kin) and last.words.isdisjoint(kin) and "no" not in last.cues:
        return False  # "lives alone, and his daughter helps"
    if "no" in last.cues and last.topics and _is_of_another_kind(clause):
        return False  # "No allergies are recorded, and she is not on any medication"
    is_but = "no" in last.cues - clause.cues and ("but" in clause.words or _counts(clause))
    is_apart = clause.cues >= {"apart", "asserts"} and "asserts" in last.cues
    if clause.names and (is_but or is_apart):
        return False  # "No drugs are recorded, but he takes …", "A was begun; B was stopped"
    if _TITLE in last.words & clause.words:
        return False  # "Dr. Raman is her cardiologist and Dr. Berg her nephrologist"
    if not clause.names:
        return not _collide(last, clause)
    is_other = (last.topics and "apart" in clause.cues) or (last.counted and clause.counted)
    return not (is_other or last.names or last.quantities or last.stages)


def _is_of_another_kind(clause: Clause) -> bool:
    """Whether what follows a kind that is denied is of another: "… or pathology reports"."""
    if "no" in clause.cues or clause.cues >= {"apart", "asserts"}:
        return bool(clause.topics or clause.names)
    return not clause.topics and clause.says("or")


def _is_next_of_course(last: Clause, clause: Clause) -> bool:
    """Whether a clause is the next value of "has risen: 0.85 (2017), 1.04 (2019)"."""
    is_told = bool(last.cues & _COURSES) and len(last.quantities) == len(last.dates) > 0
    is_value = len(clause.quantities) == len(clause.dates) == 1 and not clause.names
    return is_told and is_value and not clause.cues & (_COURSES | {"asserts", "before"})


def _collide(last: Clause, clause: Clause) -> bool:
    """Whether a clause without names says something else of what the last one speaks of."""
    both_measured = last.quantities and clause.quantities
    is_deed = not clause.words.isdisjoint(statement_words().happening)
    has_value = last.quantities or clause.quantities
    places = [one for one in (last, clause) if "ordinal" in map(group_of, one.exclusive)]
    both_dated = last.dates and clause.dates and (has_value or is_deed or last in places)
    is_place = bool(last.counted and clause.dates) and clause in places
    both_dated = both_dated and not clause.differences  # "2 kg less than in 2016"
    scales = {one.stages[0].scale for one in (last, clause) if one.stages}
    both_graded = last.stages and clause.stages and len(scales - {""}) < 2
    both_often = last.often and clause.often
    is_now = last.dates and clause.quantities and "newest" in clause.cues and not clause.dates
    # "was 68 kg and has risen since 2019"
    is_course = last.quantities and clause.dates and clause.cues >= {"asserts", "begun"}
    is_course = is_course and bool(clause.cues & _COURSES) and not clause.quantities
    is_after_first = bool(last.dates) and clause.words >= saying("after_first")
    is_other = (
        is_place or is_after_first or both_measured or both_dated or both_graded or both_often
    )
    return bool(is_now or is_course or is_other) or _differ(last, clause)


def _differ(last: Clause, clause: Clause) -> bool:
    """Whether clauses say one thing of this and the other of that: "retained; MSH6 lost"."""
    groups = statement_words().exclusive
    told = dict(groups[word] for word in last.exclusive)
    said = [groups[word] for word in clause.exclusive]
    groups_told = {"expression", "polarity"} if clause.codes else {"expression"}
    return any(told.get(group, which) != which for group, which in said if group in groups_told)


def _joined(last: Clause, clause: Clause) -> Clause:
    """Return both as one."""
    is_over = "ended" in clause.cues - last.cues and bool(last.names and last.dates)
    over = frozenset({"day_before_end"} if is_over and not clause.dates else ())
    over |= _of_ends(last, clause, last.cues & {"ended"} if clause.names else over)
    if last.counted and clause.dates and not last.dates:
        over |= {"of_all"}  # "once, in 2013" is once at all
    return joined((last, clause), own_names=last.own_names, cues=over)


def _of_the_same(last: Clause, clause: Clause) -> Clause:
    """Return a clause without names with those of the one before."""
    is_course = bool(clause.cues & _COURSES)
    is_of_then = "before" in clause.cues or (is_course and "begun" in clause.cues)
    passed_on = last.cues - {"newest", "current"} if is_of_then else last.cues
    is_other_way = is_course or clause.says("turned")
    is_bound = any(one.comparator for one in clause.quantities)
    is_own = clause.quantities and (clause.sites or "asserts" in clause.cues)
    if is_other_way or is_bound or is_own:
        passed_on -= _COURSES
    if "asserts" in clause.cues:  # "takes lithium; her level is 0.7"
        passed_on -= _INHERITED - {"family", "maybe"} | {"before", "recorded"}
    is_dated = bool(clause.dates and not clause.quantities)
    # "is normal at 4.6; it had been 5.6 in 2021"
    if clause.quantities and (clause.dates or clause.cues >= {"newest", "asserts"}):
        passed_on -= _NOW | _JUDGED if "asserts" in clause.cues else _JUDGED
    passed_on -= _OF_THEN if "newest" in clause.cues else frozenset()
    if clause.quantities:
        # Each number for itself: "peaked at 1.4 and was 1.3", "by about 3 kg, from 22.0 to 24.7".
        passed_on -= _EXTREMES | {"approximately"}
    is_other = clause.says("discharged") or ("no" in clause.cues and _KINDS & {*clause.topics})
    is_other = is_other or (is_dated and "=procedure" in clause.topics)
    names = () if is_other and not clause.names else last.names
    paired = {one.unit for one in clause.quantities if one.pair}
    if paired and (_PRESSURES & {*names} or (names and _PRESSURE_UNIT in paired)):
        names = ("=blood pressure",)  # "systolic above 155, most recently 169/93 mmHg"
    if clause.says("which") and names:
        names = next((tuple(one) for one in last.runs if names[-1] in one), names[-1:])
    said = (one for one in clause.words - {"stage"} if one.isalpha())  # a grade is of many things
    if (clause.stages or clause.codes) and all(graded(one.upper()) for one in said):
        names = ()  # "pT3 pN1b (3/24 nodes), R0" are of the tumor
    return replace(clause, names=names, own_names=False, cues=clause.cues | passed_on)


def _after(last: Clause, clause: Clause) -> Clause:
    """Return a clause with what it takes over from the one before."""
    is_of_one = len(clause.names) < len(("first", "second")) and not clause.dates
    is_bound = any(one.comparator for one in clause.quantities) and not clause.names
    if clause.says("since_then") and is_of_one and ("no" in clause.cues or is_bound):
        then = {"since_then"} if is_bound else set[str]()
        clause = replace(clause, dates=last.dates[-1:], cues=clause.cues | then)
        last = replace(last, cues=last.cues - {"newest"})  # "seen on 3 May; no contact since"
    if not clause.names:
        return _of_the_same(last, clause)
    units = {one.unit for one in clause.quantities} if clause.says("under") else {"mg"}
    is_of_drug = {*map(kind_of_name, clause.names)} == {"medication"}
    if is_of_drug and units and units.isdisjoint(("mg", "ug")):
        clause = replace(clause, names=(*last.names, *clause.names))  # "3.1 ng/mL on osimertinib"
    if clause.cues & _EXTREMES and not clause.has_values and len(last.quantities) == 1:
        value = replace(last.quantities[0], pair=None)  # "135/76 mmHg, the highest systolic value"
        cues = clause.cues | (last.cues & _NOW)
        clause = replace(clause, quantities=(value,), dates=last.dates, cues=cues)
    if clause.says("finds") and last.dates and not clause.dates:
        clause = replace(clause, dates=last.dates)  # "the scan of May 2020 showed …"
    if "asserts" not in clause.cues:
        kinds = {*map(kind_of_name, clause.names)}
        told = last.words & (stems_told("allergic") | saying("of_aims"))
        if "problem" in kinds and "medication" not in kinds:  # "an allergy to latex, COPD and CKD"
            told -= stems_told("allergic")
        clause = replace(clause, words=clause.words | told)
    return _of_same_kin(last, replace(clause, cues=clause.cues | _passed_on(last, clause)))


def _passed_on(last: Clause, clause: Clause) -> frozenset[str]:
    """Return what is said of one thing that is said of the next, too."""
    if "asserts" in clause.cues or clause.quantities:
        inherited = last.cues & _INHERITED if "asserts" not in clause.cues else frozenset[str]()
        if clause.quantities:
            inherited -= {"begun", "when"}  # "74 kg since 2015, a BMI of 30.5"
            if "over_behind_name" in last.cues:  # "allopurinol stopped; bisoprolol 5 mg daily"
                inherited -= {"ended"}
    else:
        inherited = last.cues & (_INHERITED | {"no", "recorded"})
    inherited -= {"no"} if _counts(clause) else set()  # "no shocks and two runs of VT"
    if last.says("without") and last.dates and clause.dates:
        inherited -= {"no"}  # "migraine without aura (2007) and obesity (1998)"
    if (last.says("without") or "no" in last.cues) and clause.says("or"):
        inherited |= {"no"}  # "no BRCA1 or BRCA2 mutation was found"
    inherited |= last.cues & {"family"} if clause.says("of_a_person") else set()  # "…, who had"
    inherited = _of_ends(last, clause, inherited)
    if "apart" in clause.cues and "no" in last.cues:
        return clause.cues & inherited  # "No allergies recorded; takes Seasonique"
    if clause.cues & {"ended", "apart"}:
        inherited -= {"current"}  # "is still listed although the chemotherapy ended"
    return inherited


def _of_ends(last: Clause, clause: Clause, inherited: frozenset[str]) -> frozenset[str]:
    """Return what is said of the next, too; days are of what has ended: "resolved: flu in 2018"."""
    inherited -= {"ended"} if clause.says("replaced") else set()  # "A was replaced by B"
    is_of_ended = "ended" in inherited - clause.cues and bool(clause.dates)
    is_of_ended &= not last.dates or "day_before_end" in last.cues
    return inherited | ({"day_before_end"} if is_of_ended else set())


def _counts(clause: Clause) -> bool:
    """Whether a clause says how many of a thing there are, at least two."""
    return any(statement_words().numbers.get(word, 0) > 1 for word in clause.words)


def _of_same_kin(last: Clause, clause: Clause) -> Clause:
    """Return a clause of "her father had diabetes, gout and asthma" with whose illness it is."""
    kin = stems_told("family")
    if "family" not in clause.cues or not clause.words.isdisjoint(kin):
        return clause
    return replace(clause, words=clause.words | (last.words & (kin | saying("both"))))


def _is_new(last: Clause, clause: Clause) -> bool:
    """Whether a clause without names tells another fact, what a picture showed, or advice.

    "…, while liver and bone were clear"; "…, and MRI showed an enlarged gland"; "…; advice on …".
    """
    is_advice = bool(last.quantities) and clause.cues >= {"apart", "planned"}
    is_other = clause.says("two_facts") and clause.cues >= {"splits", "asserts"}
    is_picture = clause.says("finds") and "modality" in map(group_of, clause.exclusive)
    is_other |= bool(last.names and clause.sites and clause.quantities) and not last.has_values
    # "pT4b melanoma of 2023, stage IV since 2024"
    told, staged = ({one.scale for one in each.stages} for each in (last, clause))
    is_other |= bool(last.names and clause.dates) and staged == {"stage"} and not staged & told
    return is_other or is_advice or is_picture


def _stands_alone(last: Clause, clause: Clause) -> bool:
    """Whether a clause takes nothing over from the one before."""
    if not clause.names and _is_new(last, clause):
        return True
    if clause.says("but") and lists.is_listed(clause):
        return True  # "… has resolved, but oxaliplatin and leucovorin are active"
    is_told = clause.names and "asserts" in last.cues and not lists.is_listed(clause)
    is_apart = "apart" in clause.cues and bool(clause.topics or clause.says("who") or is_told)
    if "no" in last.cues - clause.cues and (clause.stages or is_apart):
        return True  # "not ulcerated, pT4a", "He takes no drug; all four have been stopped"
    if "doers" in clause.cues and "maybe" in last.cues - clause.cues:
        return any(cue.startswith("deed:") for cue in clause.cues)  # "I will; the mail is sent"
    return last.words <= saying("answers_whether")  # "Ja, keine Allergien bekannt"


def put_together(segments: Iterable[Clause], *, are_apart: bool = False) -> list[Clause]:
    """Return the clauses: what goes on with the one before is joined to it, or follows it."""
    done: list[Clause] = []
    if len(told := [*segments]) == 1:  # most sentences
        return lists.each_of_body(told)
    for segment in lists.told_ahead(told):
        lead = done.pop().dates if done and _is_lead(done[-1]) else ()
        clause = replace(segment, dates=(*lead, *segment.dates)) if lead else segment
        if not done or _is_lead(clause):
            done.append(clause)
        elif not clause.names and (before := lists.told_before(done, clause)) is not None:
            done.append(replace(_after(before, clause), own_names=True))
        elif (whole := _as_one(done[-1], clause, are_apart=are_apart)) is not None:
            done[-1] = whole
        else:
            is_alone = _stands_alone(done[-1], clause)
            done.append(clause if is_alone else _after(done[-1], clause))
    return _of_one_day(lists.each_of_body(list(lists.denied_together(lists.each_its_value(done)))))


def _is_lead(clause: Clause) -> bool:
    """Whether a clause is the day of what follows: "…; in April 2018, lungs were tested"."""
    is_bare = len(clause.words) < len(("this", "resolved")) and not clause.quantities
    return is_bare and "apart" in clause.cues and len(clause.dates) == 1


def _as_one(last: Clause, clause: Clause, *, are_apart: bool) -> Clause | None:
    """Return a clause joined to the one with which it goes on; None where it does not."""
    if not (clause.names or are_apart) and _is_without(clause):
        return _joined(last, replace(clause, cues=clause.cues - {"no"}))
    if _stands_alone(last, clause):
        return None
    if _tells_value_before(last, clause):
        return _course(last, clause)
    goes_on = not are_apart and _goes_on(last, clause)
    goes_on = goes_on or _is_next_of_course(last, clause)
    return _joined(last, clause) if goes_on else None


def _is_without(clause: Clause) -> bool:
    """Whether a clause denies no kind of things: "migraine without aura"."""
    return clause.says("without") and _KINDS.isdisjoint(clause.topics)


def _of_one_day(clauses: list[Clause]) -> list[Clause]:
    """Return clauses, each value of a list with the day that is told once, before or behind all."""
    dated = [one for one in clauses if one.dates]
    is_visit = any(one.says("check_ups") for one in dated)  # "at the last check-up on 2 May"
    if len(dated) != 1 or len(dated[0].dates) != 1 or ("newest" in dated[0].cues and not is_visit):
        return clauses
    one, day = dated[0], dated[0].dates[0]
    is_head = one is clauses[0] and all(day.start < each.start for each in one.quantities)
    if is_head and (is_visit or day.start < _LEAD_CHARS):
        clauses = [replace(c, dates=one.dates) if _is_listed_name(c, one) else c for c in clauses]
    is_tail = one is clauses[-1] and all(each.start < day.start for each in one.quantities)
    if "begun" in one.cues or not (is_head or is_tail):
        return clauses
    if is_tail and one.says("all"):  # "Zoster, Td and influenza were all given on 22 February"
        bare = [each for each in clauses if each.names and each.own_names and not each.has_values]
        others = _OF_OTHER_TIMES - {"newest"} | {"doers", "when", "ended"}
        bare = [c for c in bare if c.cues.isdisjoint(others)]
        clauses = [replace(c, dates=one.dates) if c in bare else c for c in clauses]
    return [
        replace(each, dates=one.dates)
        if _is_listed_value(each) and not (each.cues ^ one.cues) & _JUDGED
        else each
        for each in clauses
    ]


def _is_listed_name(clause: Clause, first: Clause) -> bool:
    """Whether a clause is the next of a list: "On 8 May she received Hib, varicella and MMR"."""
    is_next = bool(clause.names) and clause.own_names and clause.cues & first.cues >= _GIVEN
    return is_next and not clause.has_values and clause.cues.isdisjoint(_OF_OTHER_TIMES)


def _is_listed_value(clause: Clause) -> bool:
    is_value = any(one.unit not in TIME_UNITS for one in clause.quantities)
    is_value = bool(is_value and clause.own_names and clause.names)
    is_of_then = clause.says("at_first") or not clause.cues.isdisjoint(_OF_OTHER_TIMES)
    return is_value and not (clause.dates or clause.often or is_of_then)

"""Compares a clause that says that something is not so with what the record holds. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import by_word, saying, statement_files, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.comparing.against_texts import is_of_other_place
from services.statements.comparing.by_values import is_of_other_report, written_on
from services.statements.comparing.none_more import is_new_then, none_more
from services.statements.rows import subject
from services.statements.rows.compare_series import is_judged_rightly
from services.statements.rows.fit import has_date, is_aim, is_hedged, is_measured
from services.statements.rows.happenings import happenings, has_happened, may_be_operation
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all, lacked
from services.statements.rows.one_of_several import DONE_ONCE, excludes, placed
from services.statements.rows.rows import BEGINNING, KnownRow, clause_of, told_of
from services.statements.rows.verdict import UNCHECKED, Verdict

_DRUGS, _ORDER = "=drug allergy", "order"  # which says nothing of what was found
_LISTS, _COMES_BACK = frozenset({"problem", "procedure", "medication"}), "recurr"
_OF_RECORD = frozenset({"recorded", "nothing", "of_chart"})


def compare_absence(clause: Clause, rows: KnownRows, *, names: Sequence[str]) -> Verdict:
    """Return what `rows` say of a clause that states that something is not so."""
    if (done := _never_done(clause, rows, names)) is not None:
        return done
    if "tolerates" in clause.cues and (to := [r for r in rows.about(names) if "allerg" in r.kind]):
        return Verdict("unsupported") if "=allergy" in clause.topics else subject.supported(to)
    named = {id(r): r for r in (*rows.about(names), *rows.about(clause.names or names))}
    found = [row for row in named.values() if not row.is_earlier]
    place, told = placed(clause), _meant(clause, found, names)
    meant = [row for row in told if row.is_text or not excludes(place, row)]
    kind = _DRUGS if clause.says("drugs") else "=food allergy" if clause.says("food") else ""
    if kind and "=allergy" in names:
        known = rows.about(["=allergy"])
        meant = [row for row in known if _may_be_of(kind, row)]
        is_told = "recorded" in clause.cues or (known and clause.says("known"))
        if not meant and is_told and (said := rows.whole.get("allergy", "")):
            return Verdict("supported", (), said)
    meant, rows = _of_whom(clause, rows, names, meant)
    denied = [
        row
        for row in meant
        if (row.negated and (row.standing != "absent" or (row.order and not row.is_text)))
        or _has_it_not(clause, row)
        or (row.is_plan and not row.is_text and row.kind in DONE_ONCE)
        or (row.smoking == "never" and "=smoking" in names)
        or (clause.says("confirmed") and row.words & stems_told("unsure"))
    ]
    denied = [row for row in denied if not row.is_text or _is_as_told(clause, row)]
    denied = [row for row in denied if not _has_it_elsewhere(clause, row, meant, names)]
    plain = [row for row in meant if not (row.negated or row.is_text or row.kind == _ORDER)]
    if (fewer := none_more(clause, rows, plain)) is not None:
        return fewer
    is_empty = "takes" in clause.cues and all(row.is_plan for row in meant)  # "takes no medication"
    if (is_empty or clause.cues & _OF_RECORD) and not (denied and not plain):
        return _not_recorded(clause, rows, meant, names)
    there = [row for row in plain if row.standing == "active" and _is_of_kind(row, clause)]
    if denied and not (there and all(row.is_text for row in denied)):
        is_other = bool(_told_later(clause, denied, meant)) or is_new_then(clause, meant)
        is_other = is_other or is_of_other_report(clause, denied, rows)
        return (
            Verdict("unsupported", subject.refs(denied)) if is_other else subject.supported(denied)
        )
    return _by_rows(clause, meant, plain, names)


def _may_be_of(kind: str, row: KnownRow) -> bool:
    """Whether a row may be of an allergy to drugs, or to food; "plaster allergy" is of neither."""
    is_named = kind != _DRUGS or any(kind_of_name(one) == "medication" for one in row.words)
    return row.negated or kind in row.words or (row.is_text and is_named)


def _meant(clause: Clause, found: Sequence[KnownRow], names: Sequence[str]) -> list[KnownRow]:
    """Return the rows of what a clause names; of "no vitamin D level" values, and no drug."""
    spoken = clause.words | set(names)
    meant = [row for row in found if row.is_text or subject.is_meant(row, spoken, names)]
    if clause.says("measured_level"):
        meant = [row for row in meant if row.is_text or row.number is not None]
    return subject.without_variants(meant, spoken)


def _of_whom(
    clause: Clause, rows: KnownRows, names: Sequence[str], meant: Sequence[KnownRow]
) -> tuple[list[KnownRow], KnownRows]:
    """Return the rows of kin alone, or of the patient alone, and what is known of whom it is of."""
    if "family" not in clause.cues and "=family history" not in names:
        return [row for row in meant if not row.kind.startswith("family")], rows
    of_kin = [row for row in meant if _is_of_kin_alone(row)]
    # What a list of the patient's own problems lacks says nothing of kin.
    return of_kin, rows if of_kin or "=family history" in names else rows.of_kin()


def _has_it_not(clause: Clause, row: KnownRow) -> bool:
    """Whether "without" denies what a row has none of, "without aura", or a gene is unchanged."""
    is_alone = clause.says("without") and not clause.says("denying_alone")
    is_of_gene = row.is_text and not row.words.isdisjoint(saying("gene_changes"))
    return (is_alone or is_of_gene) and not row.words.isdisjoint(saying("without"))


def _is_as_told(clause: Clause, row: KnownRow) -> bool:
    """Whether the sentence that denies something is of the same side or vessel, and the values."""
    whole = clause_of(row.says)
    there = replace(row, exclusive=frozenset(whole.exclusive), quantities=whole.quantities)
    is_measured_so = all(is_measured(one, there) for one in clause.quantities)
    if clause.says("never") and row.words.isdisjoint(saying("never")):
        return False  # "No stroke." is of that day
    if clause.says("finds") and not row.words.isdisjoint(saying("carried_out")):
        return False  # a scan that was not done found nothing
    if subject.is_of_other_picture(clause, row):
        return False
    is_of_picture_alone = subject.is_of_picture(clause) or clause.says("pictures")
    is_of_picture_alone = is_of_picture_alone and not any(one[0] == "=" for one in clause.names)
    things = told_of(clause.words) - statement_words().neutral - {*clause.names}
    if is_of_picture_alone and not clause.topics and not all(_has_word(row, one) for one in things):
        return False  # "no cord compression can be judged" denies no new lesion
    return is_measured_so and not excludes(placed(clause, "modality"), there)


def _has_it_elsewhere(
    clause: Clause, row: KnownRow, meant: Sequence[KnownRow], names: Sequence[str]
) -> bool:
    """Whether a text denies it of another place only, or has it in another part."""
    if not row.is_text or clause.quantities:
        return False
    parts = [one for one in meant if one.is_text and one.says == row.says]
    if clause.sites:
        return is_of_other_place(clause, row, parts)
    own = [name for name in names if name in row.name]
    is_of_illness = not own and any(kind_of_name(one) == "problem" for one in names)
    if is_of_illness and row.negated and row.words & row.name & saying("no_such"):
        left = told_of(row.name) - statement_words().neutral - statement_words().ending
        return bool(left)  # "metastases; no cord compression"
    words = {word for name in own for word in name.removeprefix("=").split()}
    plain = [one for one in parts if not (one.negated or one.is_plan or _has_it_not(clause, one))]
    return bool(words) and any(
        words <= one.name for one in plain if one.words.isdisjoint(saying("without"))
    )


def _told_later(
    clause: Clause, denied: Sequence[KnownRow], meant: Sequence[KnownRow]
) -> KnownRow | None:
    """Return the text that has what older texts alone deny, of who is said to have none now."""
    if "is_now" not in clause.cues or clause.has_values or not all(row.is_text for row in denied):
        return None
    last = max(map(written_on, denied))
    later = (row for row in meant if row.is_text and written_on(row) > last)
    return next((row for row in later if not (row.negated or row.is_plan)), None)


def _by_rows(
    clause: Clause, meant: Sequence[KnownRow], plain: Sequence[KnownRow], names: Sequence[str]
) -> Verdict:
    """Return what rows of facts say of a denial: how they are judged, whether they ended."""
    if (judged := _judged_otherwise(clause, plain)) is not None:
        return judged
    states = [row for row in plain if row.kind == "problem"]
    is_of_state = {"is_now", "about_patient"} <= clause.cues and not clause.says("past", "never")
    if is_of_state and states and all(row.ended and row.standing == "ended" for row in states):
        return subject.supported(states)  # "She is not pregnant."
    if clause.cues & {"takes", "current"} or clause.says("chronic"):
        of_kind = [row for row in plain if f"={row.kind}" in names] or plain
        if of_kind and all(row.standing == "ended" or row.is_plan for row in of_kind):
            return subject.supported(of_kind)
    if plain and not clause.has_values:
        return Verdict("contradicted", plain[0].sources, plain[0].says)
    return Verdict("unsupported", subject.refs(meant[:1]))


def deny_all(clause: Clause, rows: KnownRows) -> Verdict:
    """Return the verdict over "Nothing was found", which names nothing, beside what was found."""
    is_of_stage = {"stages", "recorded"} <= clause.cues and not clause.stages
    found = [r for r in (rows.rows if is_of_stage else ()) if r.stages or "stage" in r.name]
    if staged := [row for row in found if row.standing != "absent"]:
        return Verdict("contradicted", staged[0].sources, staged[0].says)
    if found:
        return subject.supported(found)
    own = told_of(clause.words) - statement_words().neutral
    is_told = bool(own) and not clause.cues & {"asserts", "altered", "first_person", "nothing"}
    own |= {word for word in clause.exclusive if group_of(word) == "novelty"}
    own |= clause.words & saying("wishing")  # who has no children may want some
    if "family" in clause.cues and not clause.cues & {"recorded", "nothing"}:
        return Verdict("unsupported")
    is_told |= bool(own) and (clause.says("has", "who") or subject.is_of_picture(clause))
    if is_told and "recorded" not in clause.cues:
        lacking, own = saying("lacking"), own - saying("finds")
        denying = [r for r in rows.rows if r.negated or (r.is_text and r.words & lacking)]
        known = [(r, r.words) for r in denying] + [(r, lacked(r)) for r in rows.rows if lacked(r)]
        without = [row for row, words in known if has_all(own, words)]
        plans = saying("scheduling")  # "Children are not planned" denies none
        without = [r for r in without if r.words.isdisjoint(plans) or is_hedged(clause, r)]
        denied = [row for row in without if all(has_date(day, row) for day in clause.dates)]
        denied = [row for row in denied if not subject.is_of_other_picture(clause, row)]
        is_so = denied and not is_of_other_report(clause, denied, rows)
        return subject.supported(denied) if is_so else Verdict("unsupported")  # "He has no cough."
    is_bare = clause.words <= stems_told("of_looking_up") and not clause.has_values
    is_bare = (is_bare and not rows.empty) or clause.says("changes")
    told = own and told_of(clause.words) - saying("no_place") - {*clause.exclusive}
    has_found = is_bare and any(row.sources and not row.is_earlier for row in rows.rows)
    is_there = has_found or _is_there(rows.about(told))
    return Verdict("unsupported") if is_there else UNCHECKED


def _is_there(found: Sequence[KnownRow]) -> bool:
    """Whether rows that have all words of what is denied tell it, and none of them denies it."""
    lacking = saying("lacking") | saying("without")
    is_denied = any(row.negated or row.words & lacking for row in found)
    return not is_denied and any(row.is_text and not row.is_plan for row in found)


def topics_denied(clause: Clause) -> tuple[str, ...]:
    """Return the kind of which a clause without a name denies all: "is not allergic"."""
    if "takes" in clause.cues and ("nothing" in clause.cues or clause.says("anything")):
        return ("=medication",)
    if clause.names or clause.objects:
        return ()
    kinds = by_word(statement_files(), "denied")
    return tuple(f"={kinds[word]}" for word in clause.words if word in kinds)


def _never_done(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return what all rows say of "no surgery or admission", where nothing is named."""
    told = [*happenings(clause), *(saying("came_in") if clause.says("in_hospital") else ())]
    if {*clause.names}.difference(told) or clause.has_values or not told:
        return None
    is_of_illness = any(_COMES_BACK in statement_words().happening.get(one, ()) for one in told)
    # A recurrent infection is no recurrence of what the sentence before told of.
    known = [r for r in rows.rows if not (is_of_illness and r.kind == "problem")]
    known = [r for r in known if not (r.negated or r.is_plan or r.words & saying("without"))]
    if done := [r for r in known if may_be_operation(r) and any(has_happened(t, r) for t in told)]:
        return Verdict("contradicted", done[0].sources, done[0].says)
    kinds = {*names} & {*clause.topics} or {"=problem" if is_of_illness else "=encounter"}
    said = "".join(rows.whole.get(one.removeprefix("="), "") for one in kinds)
    if is_of_illness and "recorded" not in clause.cues:
        return Verdict("unsupported")  # a list that lacks it does not say that it is not there
    return Verdict("supported", (), said) if said else None


def _is_of_kind(row: KnownRow, clause: Clause) -> bool:
    """Whether a row is of what is named, or of one of its kind: furosemide is a diuretic."""
    named = {*clause.names} - {*clause.topics}
    if row.kind == "medication":
        return not row.needs.isdisjoint(named) if named else not clause.exclusive
    groups = {name for name in named if name.startswith("=")} if row.kind == "problem" else set()
    told = told_of(clause.words) - clause.called - statement_words().neutral | named
    is_narrower = row.kind == "problem" and bool(told) and told <= row.words
    is_narrower = is_narrower and not clause.exclusive
    return is_narrower or row.needs <= clause.words or not row.words.isdisjoint(groups)


def _is_of_kin_alone(row: KnownRow) -> bool:
    return row.kind.startswith("family") or (
        row.is_text and not row.words.isdisjoint(stems_told("family"))
    )


def _judged_otherwise(clause: Clause, plain: Sequence[KnownRow]) -> Verdict | None:
    """Return what the newest value says of "not high" or "not normal"; None where none does."""
    measured = [row for row in plain if row.number is not None]
    if clause.dates or not measured:
        return None
    newest = max(measured, key=lambda row: row.order)
    is_so = is_judged_rightly(clause, newest)
    if is_so is None or "no" not in clause.cues:
        return None
    return Verdict("contradicted" if is_so else "supported", newest.sources, newest.says)


def _not_recorded(
    clause: Clause, rows: KnownRows, meant: Sequence[KnownRow], names: Sequence[str]
) -> Verdict:
    named = [row for row in meant if not row.negated and not row.is_text]
    there, said = _of_all_told(clause, rows, named, names)
    if named and not there and said:
        return Verdict("supported", (), said)
    is_of_now = clause.says("chronic") or not clause.cues.isdisjoint({"current", "takes"})
    if is_of_now and there and all(one.standing == "ended" for one in there):
        return subject.supported(there)
    if there:
        return Verdict("contradicted", there[0].sources, there[0].says)
    wanted = {"=allergy"} if "=allergy" in names else set(names)
    is_of_record = not clause.cues.isdisjoint(_OF_RECORD)
    empty = [one for one in rows.empty if wanted and wanted <= one.words]
    if empty and is_of_record:  # else it does not say that none is taken
        return Verdict("supported", (), empty[0].says)
    if any(row.standing == "absent" for row in meant):
        return subject.supported([row for row in meant if row.standing == "absent"])
    if said := _missing_from_list(rows, clause.names or names):
        return Verdict("supported", (), said)
    is_open = clause.names and is_of_record and not meant and rows.whole.keys() >= _LISTS
    return UNCHECKED if is_open else Verdict("unsupported")


def _of_all_told(
    clause: Clause, rows: KnownRows, named: Sequence[KnownRow], names: Sequence[str]
) -> tuple[Sequence[KnownRow], str]:
    """Return the rows of all that is said to be missing, and which list says that there are none.

    A knee's osteoarthritis is no knee replacement, and migraine no drug against it.
    """
    if not clause.names:
        own = _told_closer(clause)
        there = [row for row in named if not own or any(_has_word(row, one) for one in own)]
        return there, rows.whole.get(clause.topics[0].removeprefix("="), "") if own else ""
    if clause.topics:
        of_kind = [row for row in named if not row.words.isdisjoint(clause.topics)]
        return of_kind, rows.whole.get(clause.topics[0].removeprefix("="), "")
    if any(row.needs <= clause.words | set(names) for row in named):
        return named, ""
    said = rows.whole.get("procedure", "") if rows.whole.keys() >= _LISTS else ""
    told = told_of(clause.words) - statement_words().neutral
    return [row for row in named if all(_has_word(row, word) for word in told)], said


def _has_word(row: KnownRow, word: str) -> bool:
    return any(one.startswith(word[:BEGINNING]) for one in row.words)


def _told_closer(clause: Clause) -> list[str]:
    """Return by which words a list of the chart is told closer: "no yellow fever vaccination"."""
    known = statement_words()
    told = told_of(clause.words) - known.neutral - known.exclusive.keys() - known.happening.keys()
    return [one for one in told if not clause_of(one).topics] if clause.topics else []


def _missing_from_list(rows: KnownRows, names: Sequence[str]) -> str:
    """Return that a whole list of a thing's kind does not hold it; "" where no list says so.

    A list of problems says nothing of a drug or an operation, nor of what a text names.
    """
    if not names or any(
        not (_is_of_kin_alone(row) or is_aim(row) or (row.is_text and row.is_plan))
        for name in names
        for row in rows.about([name])
    ):
        return ""
    kinds = {kind_of_name(name) for name in names}
    return rows.whole.get(kinds.pop(), "") if len(kinds) == 1 else ""

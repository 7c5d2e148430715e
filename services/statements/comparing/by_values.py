"""Rows for a clause that does not name what it speaks of: by its values. Pure."""

from collections.abc import Collection, Sequence

from services.language.figures.quantities import TIME_UNITS
from services.language.figures.written_dates import WrittenDate
from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.language.words.statement_words import group_of, statement_words
from services.statements.comparing.compare_several import places_told
from services.statements.rows.compare_series import OF_OTHER_TIMES
from services.statements.rows.fit import has_date, is_measured
from services.statements.rows.happenings import COURSES, happenings, has_happened
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.one_of_several import excludes, placed
from services.statements.rows.rows import BEGINNING, KnownRow, stems_of, told_of
from services.statements.rows.subject import is_of_other_picture, supported
from services.statements.rows.units import is_comparable
from services.statements.rows.verdict import Verdict


def by_values(clause: Clause, rows: KnownRows) -> list[KnownRow]:
    """Return the rows that have a number, a day, a stage or a code of a clause that names none."""
    found: list[KnownRow] = []
    if any(one.comparator and not one.unit for one in clause.quantities):
        return found  # many numbers are over 39
    for one in clause.quantities:
        of_what = told_of(clause.words) if one.unit[:1] == "{" else None  # six cycles of ABVD
        numbered = rows.with_number(one.readings)
        found += [row for row in numbered if of_what is None or of_what & row.words]
    for day in clause.dates:
        for reading in day.readings:
            found += rows.with_day(reading.year, reading.month)
    if clause.stages or clause.codes or clause.often:
        found += [r for r in rows.rows if r.stages or r.often or set(clause.codes) & r.words]
    if clause.dates and not clause.quantities and not clause.stages:
        # A day alone does not say what was on it.
        meant = told_of(clause.words).union(clause.topics, clause.exclusive)
        found = [row for row in found if _tells_of(meant, row, is_of_kind=bool(clause.topics))]
    return list({id(row): row for row in found}.values())


def _tells_of(meant: Collection[str], row: KnownRow, *, is_of_kind: bool) -> bool:
    """Whether a row has most words of what was on a day, or one where its kind is named."""
    begun = {word[:BEGINNING] for word in row.words}
    happening = statement_words().happening
    shared = sum(
        word in row.words
        or (len(word) > BEGINNING and word[:BEGINNING] in begun)
        or (word in happening and has_happened(word, row))
        or (row.kind == "encounter" and word in saying("seen_there"))
        for word in meant
    )
    return bool(shared) and (is_of_kind or shared * 2 > len(meant))


def latest_of_kind(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return whether "the last visit" was on the day, with the doctor, or for what is told."""
    who = told_of(clause.words) - statement_words().neutral if clause.says("doctor") else set()
    who |= clause.words & saying("visits")  # "the last emergency visit"
    is_told = not names and bool(clause.dates or who)
    if not is_told or len(clause.topics) != 1 or not (newest := latest(clause, rows)):
        return None
    last = newest[0]
    if all(has_date(day, last) for day in clause.dates) and who <= last.words:
        return supported([last])
    return Verdict("contradicted", last.sources, last.says)


def of_other_end(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the last visit, or first operation, of which "the last visit was for X" is untrue."""
    is_last, is_first = ("last_of_kind" in clause.cues), ("first_of_kind" in clause.cues)
    if not (names and (is_last or is_first)) or clause.has_values:
        return None
    kind = clause.topics[0].removeprefix("=") if clause.topics else "encounter"
    of_kind = [row for row in rows.rows if row.kind.startswith(kind) and row.order]
    of_kind = [row for row in of_kind if not row.is_plan and (clause.topics or row.is_stay)]
    done = happenings(clause) if clause.topics else []
    of_kind = [row for row in of_kind if all(has_happened(one, row) for one in done)]
    told = [row for row in of_kind if row.words.issuperset({*names} - saying("came_in"))]
    groups = (of_kind, [row for row in of_kind if row.standing == "active"])
    pick = max if is_last else min
    ends = [pick(one, key=lambda row: row.order[:10]) for one in groups if one]
    days = {row.order[:10] for row in ends}
    if not told or any(row.order[:10] in days for row in told):
        return None
    return Verdict("contradicted", ends[0].sources, ends[0].says)


def is_of_other_report(clause: Clause, fitting: Sequence[KnownRow], rows: KnownRows) -> bool:
    """Whether the last, or second, report of an examination is not what says what is told."""
    texts = [row for row in fitting if row.is_text and clause.says("finds")]
    is_other = bool(texts) and all(is_of_other_picture(clause, row) for row in texts)
    is_other = is_other or _is_of_other_thing(clause, fitting, rows)
    if is_other or _is_of_older_text(clause, fitting, rows):
        return True
    specimens = clause.words & saying("of_a_specimen")  # "… was found at rebiopsy"
    if any(_is_of_other_specimen(one, fitting, rows) for one in specimens):
        return True
    told = {ref for row in fitting for ref in row.sources}
    places = places_told(clause)
    if clause.dates or not (places or "newest" in clause.cues):
        return False
    for word in (*clause.names, *(w for w in clause.exclusive if group_of(w) == "modality")):
        reports = [row for row in rows.about([word]) if row.kind.endswith("report")]
        days = sorted({row.order[:10] for row in reports})
        if at := places[0] if places else len(days):
            meant = {
                ref
                for row in reports
                if days.index(row.order[:10]) == at - 1
                for ref in row.sources
            }
            others = {ref for row in reports for ref in row.sources} - meant
            if meant and told.isdisjoint(meant) and not told.isdisjoint(others):
                return True
    return False


def _is_of_other_specimen(word: str, fitting: Sequence[KnownRow], rows: KnownRows) -> bool:
    """Whether another report, or a value of its day, says it: no "3+ on the residual tumour"."""
    reports = [row for row in rows.rows if row.kind.endswith("report")]
    own = {ref for row in reports if word in row.name for ref in row.sources}
    own = own or {ref for row in rows.rows if word in row.words for ref in row.sources}
    days = {row.order[:10] for row in reports if not own.isdisjoint(row.sources)}
    others = {row.order[:10] for row in reports} - days
    refs = {ref for row in reports for ref in row.sources} - own
    told = [row for row in fitting if not row.is_text] or fitting
    is_other = (refs.issuperset(one.sources) or one.order[:10] in others for one in told)
    return bool(days) and all(is_other)


def _is_of_other_thing(clause: Clause, fitting: Sequence[KnownRow], rows: KnownRows) -> bool:
    """Whether another text gives a size of what those with the size that is told do not name."""
    sizes = [one for one in clause.quantities if one.unit in ("mm", "cm")]
    is_plain = len(sizes) == 1 and not (clause.dates or clause.cues & COURSES)
    if not is_plain or not all(row.is_text for row in fitting):
        return False
    known = {w[:BEGINNING] for row in fitting for w in row.words | stems_of(row.says)}
    told = told_of(clause.words) - statement_words().neutral
    others = [word for word in told if word[:BEGINNING] not in known]
    there = [row for word in others for row in rows.about([word]) if word in row.name]
    return any(row.is_text and is_comparable(sizes[0], q) for row in there for q in row.quantities)


def _is_of_older_text(clause: Clause, fitting: Sequence[KnownRow], rows: KnownRows) -> bool:
    """Whether a size is told as of now, and a newer text has another, or it as `14 mm (31 mm)`."""
    is_of_then = clause.cues & (OF_OTHER_TIMES | COURSES) or clause.dates or clause.says("from")
    is_of_now = clause.cues & {"is_now", "newest", "current"} and not is_of_then
    if not is_of_now or not all(row.written for row in fitting):
        return False
    last, told = max(map(written_on, fitting), default=()), {*clause.names}
    if told and any(
        excludes(clause, row) and row.is_text and written_on(row) > last
        for row in rows.about(told)
        if clause.exclusive and not placed(clause).exclusive
    ):
        return True  # "moderate", where it is mild since
    told |= told_of(clause.words) - statement_words().neutral
    return any(
        f"({one.number:g} {one.unit}" in row.says
        or (has_all(told, row.words) and any(is_comparable(one, known) for known in row.quantities))
        for one in clause.quantities
        if one.unit and one.unit not in TIME_UNITS
        for row in rows.rows
        if row.written and written_on(row) > last
    )


def written_on(row: KnownRow) -> tuple[int, ...]:
    """Return when a text was written."""
    day = row.written or WrittenDate()
    return (day.year or 0, day.month or 0, day.day or 0)


def is_of_other_setting(clause: Clause, rows: KnownRows, names: Sequence[str]) -> bool:
    """Whether a report that is named has another value: "HER2 was 3+ on the specimen"."""
    if len(clause.quantities) != 1 or clause.dates or clause.says("apart") or not names:
        return False
    for word in told_of(clause.words).difference(names[:1]):
        reports = [row for row in rows.about([word]) if row.kind == "pathology report"]
        days = {row.order[:10] for row in reports if word in row.name}
        alike = rows.about(names[:1]) if days else []
        own = [row for row in alike if names[0] in row.needs and row.order[:10] in days]
        there = [row for row in alike if row in own or (row.is_text and word in row.words)]
        if own and not any(is_measured(clause.quantities[0], row) for row in there):
            return True
    return False


def latest(clause: Clause, rows: KnownRows) -> list[KnownRow]:
    """Return the row of "the last visit"; none where no last one of a kind is told."""
    of_kind = rows.about(clause.topics[:1]) if "newest" in clause.cues else []
    dated = [row for row in of_kind if row.order and not row.is_text]
    dated = [row for row in dated if clause.words & saying("visits") <= row.words] or dated
    return sorted(dated, key=lambda row: row.order)[-1:]

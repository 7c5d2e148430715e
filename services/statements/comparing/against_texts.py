"""What rows say against a clause that only texts, or a broader name, support. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import VARIANT, statement_words
from services.statements.rows.compare_series import OF_OTHER_TIMES
from services.statements.rows.fit import fits, has_date, is_denied_alike, is_measured
from services.statements.rows.happenings import COURSES
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.one_of_several import excludes
from services.statements.rows.rows import KnownRow, clause_of, stems_of, told_of
from services.statements.rows.subject import refs
from services.statements.rows.units import is_comparable
from services.statements.rows.verdict import Verdict


def against_texts(
    clause: Clause, fitting: Sequence[KnownRow], candidates: Sequence[KnownRow]
) -> Verdict | None:
    """Return the row that says absent where a clause says present, for all that texts may say."""
    if not all(row.is_text for row in fitting):
        return None
    kinds = {kind_of_name(one) if one[0] == "=" else "" for one in clause.names}
    if "takes" in clause.cues and kinds == {"medication"}:
        return Verdict("unsupported", refs(fitting[:1]))  # no drug of it is in a list
    # A text that says it of the right carotid is not contradicted by a row of the left.
    of_place = replace(clause, exclusive=()) if clause.sites else clause
    told = () if clause.dates or clause.cues & OF_OTHER_TIMES else clause.quantities[-1:]
    for row in (one for one in candidates if not one.is_text and not one.is_earlier):
        is_denied = row.needs <= clause.words and not is_denied_alike(clause, row)
        is_other = not row.needs.isdisjoint(clause.names) and excludes(of_place, row)
        if row.standing == "active" and told and not is_measured(told[0], row):  # an old dose
            is_other = is_other or any(is_comparable(told[0], one) for one in row.quantities)
        if is_denied or is_other:
            return Verdict("contradicted", row.sources, row.says)
    said = {*fitting[0].sources}
    texts = [row for row in candidates if not row.name.isdisjoint(clause.names)]
    denied = [row for row in texts if row.is_text and not is_denied_alike(clause, row)]
    denied = [row for row in denied if {*filter(VARIANT.fullmatch, row.words)} <= clause.words]
    # "Disease of the left breast without metastasis" denies no disease of the breast.
    lacking = {id(row): row.says.partition(" without ")[2] for row in denied}
    denied = [r for r in denied if not lacking[id(r)] or stems_of(lacking[id(r)]) & clause.words]
    denied = [row for row in denied if not is_of_other_place(clause, row, texts)]
    # Without T790M no gene is wild-type, of which something else was found.
    denying = stems_told("denying") | saying("without")
    is_of_gene = bool(clause.words & denying) and not any(map(VARIANT.fullmatch, clause.words))
    found = (row for row in texts if row.stages or row.quantities)
    if is_of_gene and any(not row.negated and denying.isdisjoint(row.words) for row in found):
        denied += [row for row in fitting if any(map(VARIANT.fullmatch, row.words))]
    # A text that says both, "calls with a seizure" and "no seizure", says neither.
    is_denied = any(not said.isdisjoint(row.sources) for row in denied)
    return Verdict("unsupported", refs(fitting[:1])) if is_denied else None


def is_of_other_place(clause: Clause, row: KnownRow, texts: Sequence[KnownRow]) -> bool:
    """Whether a part of a text is of another place than is told, by its own or the part before it.

    "Left frontal with oedema; right cerebellar hemisphere, 5 x 5 mm, without oedema".
    """
    parts = [one for one in texts[: texts.index(row) + 1] if one.says == row.says and one.sites]
    return bool(clause.sites and parts) and excludes(clause, parts[-1])


def is_of_other_part(clause: Clause, row: KnownRow) -> bool:
    """Whether a text has more words of what is told, or gone, at another size: "22 mm with …"."""
    gone, said = (
        clause.words & saying("vanished"),
        told_of(clause.words) - statement_words().neutral,
    )
    sizes = _sizes(clause)
    if len(sizes) + bool(gone) != 1 or clause.cues & COURSES or clause.says("from", "formerly"):
        return False
    parts = [clause_of(one) for one in row.says.replace(" with ", ", ").split(", ")]
    parts = [one for one in parts if gone & one.words or _sizes(one)]
    told = [(len(said & c.words), bool(gone & c.words or sizes & _sizes(c))) for c in parts]
    is_told = row.is_text and bool(gone or any(is_there for _, is_there in told))
    return is_told and not max(told, default=(0, False))[1]


def _sizes(clause: Clause) -> set[float]:
    return {one.number for one in clause.quantities if one.unit in ("mm", "cm")}


def gives_way(clause: Clause, row: KnownRow, subject: Sequence[KnownRow]) -> bool:
    """Whether a text tells a value, by chance, of a day of which a row has one.

    "44 %, improved from 38 % in 2021", of 2025, is no 44 % of 2021.
    """
    if not (row.is_text and row.written and clause.dates and clause.quantities):
        return False
    is_own = all(any(one.fits(row.written) for one in day.readings) for day in clause.dates)
    return not is_own and any(
        one.needs_all and not one.is_text and all(has_date(day, one) for day in clause.dates)
        for one in subject
    )


_SMALL_CHARS = 3
_MALIGNANT = "malignant"
_NARROWER = ("carcinoma", "sarcoma", "lymphoma", "melanoma", "leukemia", "myeloma", "karzinom")


def by_broader_name(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Sequence[KnownRow]:
    """Return the problems that the clause calls so, if it says nothing else of them.

    "Her lung cancer is stage IVB" is what `Adenocarcinoma of lung, stage IVB` says; that it is
    small cell, or in remission, is more than that.
    """
    own = [name for name in names if name not in saying("cancer")]
    if len(own) == len(names):
        return ()
    said = {word for word in clause.words if len(word) > _SMALL_CHARS and word.isalpha()}
    said -= saying("cancer") | saying("says_no_more")
    said = said - statement_words().neutral - statement_words().translated
    said -= {word for row in rows.personal if row.kind == "patient" for word in row.name}
    return [
        row
        for row in (rows.about(own) if own else rows.rows)
        if row.kind == "problem"
        and (_MALIGNANT in row.words or any(word.endswith(_NARROWER) for word in row.words))
        and has_all(said, row.words)
        and fits(clause, row)
    ]


def is_cancer_of(names: Sequence[str]) -> bool:
    """Whether `names` are one thing: a colon's polyp and another's cancer are no colon cancer."""
    return not saying("cancer").isdisjoint(names)

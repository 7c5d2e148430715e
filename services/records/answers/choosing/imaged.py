"""Which reports and which scans without one a question asks for by a name. Pure."""

from collections.abc import Iterator, Sequence

from data_models.chart_view import ViewRow
from services.language.words.folding import tokens_of
from services.language.words.statement_tables import saying
from services.records.answers.choosing.said_words import has_words, says_all
from services.records.concepts.table import parts_of_body

# How reports name what a question calls by one word.
_MODALITIES = {
    kind: saying(f"seen by {kind}")
    for kind in ("ct", "mri", "pet", "ultrasound", "mammography", "x ray")
}
IMAGING = "imaging"
"""The head of who asks which images were made, of which there is no report."""
_WORDS_OF = {kind: frozenset(tokens_of(kind)) for kind in _MODALITIES}
_OF_IMAGING = saying("of_imaging").union(*_MODALITIES.values())
_FINDINGS = saying("imaged_findings")
"""A metastasis is called a lesion by the next report."""
_LOOKING_INTO = "oscopy"


def scans_of(name: str, rows: Sequence[ViewRow]) -> tuple[ViewRow, ...]:
    """Return the procedures that made images, of `name` or else of its kind: of a brain MRI all."""
    made = [row for row in rows if _title(row) & _OF_IMAGING]
    kind = name.removesuffix(part_imaged(name)).strip()
    return reports_on(name, made) or (reports_on(kind, made) if kind else ())


def reports_on(name: str, rows: Sequence[ViewRow]) -> tuple[ViewRow, ...]:
    """Return the reports on all that `name` says, by their titles or else by their texts.

    "MRI of the brain" is no report on another part, and no CT that speaks of the brain.
    """
    words, parts = tokens_of(name), part_imaged(name)
    kinds = [said for each, said in _MODALITIES.items() if _WORDS_OF[each].issubset(words)]
    of_kind = [row for row in rows if not kinds or any(_title(row) & kind for kind in kinds)]
    if not parts:
        return tuple(of_kind)
    what = " ".join(one for one in parts.split() if one in _FINDINGS)
    where = " ".join(one for one in parts.split() if one not in _FINDINGS)
    # Of a lung lesion the title of a chest CT tells where, and its text what; metastases of the
    # bone are seen on any scan.
    there = () if what == "metastasis" else ((where, what),)
    for title, text in ((parts, ""), *there, ("", parts)):
        told = [one for one in of_kind if _says(" ".join(_title(one)), title, is_title=True)]
        if told := [one for one in told if _says(f"{one.name} {one.value} {one.detail}", text)]:
            return tuple(told)
    # Of a bronchoscopy the report is called "bronchial biopsy".
    looked_into = " ".join(word.removesuffix(_LOOKING_INTO) for word in parts.split())
    return tuple(row for row in of_kind if looked_into != parts and has_words(row, looked_into))


def part_imaged(name: str) -> str:
    """Return what a name says besides the kind of images: of "x ray femur" the femur."""
    known = frozenset().union(*_WORDS_OF.values())
    return " ".join(word for word in tokens_of(name) if len(word) > 1 and word not in known)


def _says(said: str, parts: str, *, is_title: bool = False) -> bool:
    """Whether each part is said, in whatever language: thyroid is Schilddrüse.

    Who scans the head scans the brain, and the head of a text may be that of the pancreas; who
    scans the chest scans the lungs.
    """
    return all(
        any(says_all(said, each) for each in (word, *_parts(word, is_title=is_title)))
        for word in parts.split()
    )


def _parts(word: str, *, is_title: bool) -> Iterator[str]:
    yield from parts_of_body(word)
    if word in _FINDINGS:
        yield from _FINDINGS
    head = (*parts_of_body("brain"), *parts_of_body("head"))
    if is_title and word in head:
        yield from head
    if is_title and word in (*parts_of_body("lung"), "pulmonary"):
        yield from parts_of_body("chest")


def _title(row: ViewRow) -> frozenset[str]:
    return frozenset(tokens_of(f"{row.name} {row.value}"))

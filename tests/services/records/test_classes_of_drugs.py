"""A class of drugs is known by its members, or said not to be known."""

from services.records.concepts.table import concept_table
from services.records.rows.finding import means
from tests.tables import with_cases


@with_cases("asked", "drug")
def test_a_drug_is_found_by_its_class(asked: str, drug: str) -> None:
    assert means("drug", asked, label=drug, codes=())


@with_cases("asked", "drug")
def test_a_drug_of_another_class_is_none(asked: str, drug: str) -> None:
    assert not means("drug", asked, label=drug, codes=())


def test_every_member_of_a_class_is_a_drug_or_a_class() -> None:
    table = concept_table()
    classes = [one for one in table.concepts if one.kind == "drug" and one.members]
    unknown = [
        (one.name, member)
        for one in classes
        for member in one.members
        if table.named("drug", member) is None
    ]
    assert not unknown

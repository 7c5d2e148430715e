"""What a draft rests on: no examination that the chart has is said not to be there."""

from services.orders.draft_order import card_rows
from tests.services.records.charts import Json, record, resource
from tests.tables import with_cases


def scan(key: str, name: str, day: str) -> Json:
    return resource(
        "DiagnosticReport",
        key,
        status="final",
        code={"text": name},
        category=[{"coding": [{"code": "RAD"}]}],
        conclusion="No metastasis.",
        effectiveDateTime=day,
    )


CHART = record(
    scan("mri-1", "MRI brain", "2024-02-01"),
    scan("mri-2", "MRI brain with gadolinium", "2025-05-12"),
    resource("Procedure", "colo", status="completed", code={"text": "Colonoscopy with biopsy"}),
)


@with_cases("test", "source")
def test_the_newest_examination_of_a_name_is_on_the_card(test: str, source: str | None) -> None:
    rows = card_rows(CHART, test).results
    assert [row.sources[0] for row in rows] == ([source] if source else [])

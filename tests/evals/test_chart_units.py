"""How the program that asks about charts reads units."""

import json
from pathlib import Path

from evals.chart_questions.charts import charts_in


def test_a_remark_in_braces_is_no_unit_that_an_answer_has_to_name(tmp_path: Path) -> None:
    patient = {"resourceType": "Patient", "id": "p", "birthDate": "1950-01-01",
               "name": [{"family": "Doe", "given": ["Jane"]}]}  # fmt: skip
    measured = [
        {"resourceType": "Observation", "id": f"o{number}", "status": "final",
         "code": {"text": f"Measured {number}"}, "subject": {"reference": "Patient/p"},
         "effectiveDateTime": "2020-01-01", "valueQuantity": {"value": 2.5, "unit": unit}}
        for number, unit in enumerate(["{score}", "10*3/uL", "{cells}/uL"])
    ]  # fmt: skip
    entries = [{"resource": each} for each in (patient, *measured)]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    (tmp_path / "chart.json").write_text(json.dumps(bundle))
    (chart,) = charts_in(tmp_path)
    results = [fact for fact in chart.facts if fact.kind == "result"]
    assert [fact.unit for fact in results] == ["", "10*3/uL", "{cells}/uL"]

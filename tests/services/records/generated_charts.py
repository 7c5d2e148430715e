"""Seeded records that hold every type of spec page 9.1 and every `value[x]`."""

import base64
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.services.records.charts import Json, entries, patient
from tests.tables import tables_beside

LOINC = "http://loinc.org"
SNOMED = "http://snomed.info/sct"
_VALUES: tuple[Json, ...] = tuple(tables_beside(Path(__file__))["values"])
_CATEGORIES = ("laboratory", "vital-signs", "social-history", "survey", "imaging", "exam", "")
_STATUSES = ("active", "completed", "stopped", "on-hold", "unknown")


class GeneratedChart:
    """Makes the resources of one patient; the same seed makes the same ones."""

    def __init__(self, *, seed: int) -> None:
        self._random = Random(seed)
        self._count = 0
        self.resources: list[Json] = []

    def add(self, kind: str, **fields: Any) -> Json:
        """Add one resource of the patient."""
        self._count += 1
        owner = "beneficiary" if kind == "Coverage" else self._random.choice(("subject", "patient"))
        made = {"resourceType": kind, "id": f"{kind.lower()}-{self._count}",
                owner: {"reference": "Patient/p9"}, **fields}  # fmt: skip
        self.resources.append(made)
        return made

    def day(self) -> str:
        """Return a day, sometimes partial, sometimes with time and offset."""
        day = date(2005, 1, 1) + timedelta(days=self._random.randrange(7_500))
        form = self._random.randrange(5)
        if form == 0:
            return day.isoformat()[:7]
        return f"{day.isoformat()}T08:30:00+02:00" if form < 3 else day.isoformat()

    def concept(self, name: str, system: str = SNOMED) -> Json:
        """Return a concept with a code of its own."""
        code = str(self._random.randrange(10**7, 10**8))
        shown = {"coding": [{"system": system, "code": code, "display": f"{name} {code}"}]}
        return shown if self._random.random() < 0.5 else {**shown, "text": f"{name} {code}"}

    def observations(self, count: int) -> list[Json]:
        """Add observations of every category and value, panels and components among them."""
        return [self._observation(number) for number in range(count)]

    def _observation(self, number: int) -> Json:
        value = _VALUES[number % len(_VALUES)]
        category = _CATEGORIES[number % len(_CATEGORIES)]
        fields: Json = {"category": [{"coding": [{"code": category}]}]} if category else {}
        if number % 9 == 0:
            fields["component"] = [
                {"code": self.concept("Part", LOINC), **each} for each in (value, *_VALUES[:2])
            ]
        else:
            fields |= value
        return self.add("Observation", status="final", code=self.concept("Observed", LOINC),
                        effectiveDateTime=self.day(), **fields)  # fmt: skip

    def of_every_type(self) -> None:
        """Add at least one resource of every other type."""
        concept, day, add = self.concept, self.day, self.add
        for status in _STATUSES:
            drug = {"medicationCodeableConcept": concept("Drug")}
            add("MedicationRequest", status=status, intent="order", authoredOn=day(), **drug)
            add("MedicationStatement", status=status, effectivePeriod={"start": day()}, **drug)
        add("MedicationAdministration", status="completed", effectiveDateTime=day(),
            medicationCodeableConcept=concept("Drug"), dosage={"text": "5 mg"})  # fmt: skip
        add("MedicationDispense", status="completed", whenHandedOver=day(),
            medicationCodeableConcept=concept("Drug"))  # fmt: skip
        for status in ("active", "recurrence", "relapse", "inactive", "remission", "resolved"):
            add("Condition", code=concept("Problem"), onsetDateTime=day(),
                clinicalStatus={"coding": [{"code": status}]})  # fmt: skip
        add("AllergyIntolerance", code=concept("Allergen"), recordedDate=day(),
            reaction=[{"manifestation": [{"text": "rash"}]}])  # fmt: skip
        add("Appointment", status="booked", start="2099-01-01T10:00:00Z", description="Visit",
            participant=[{"actor": {"reference": "Patient/p9"}}])  # fmt: skip
        visit = add(
            "Encounter", status="finished", period={"start": day()}, type=[concept("Visit")]
        )
        self._care(visit)

    def _care(self, visit: Json) -> None:
        concept, day, add = self.concept, self.day, self.add
        seen = self.observations(2)
        add("CarePlan", status="active", title="Plan", category=[concept("Plan")])
        add("CareTeam", status="active", name="Team", participant=[{"member": {"display": "Dr A"}}])
        device = add("Device", status="active", type=concept("Pacemaker"))
        add("DeviceUseStatement", status="active",
            device={"reference": f"Device/{device['id']}"})  # fmt: skip
        add("DiagnosticReport", status="final", code=concept("Report"), effectiveDateTime=day(),
            result=[{"reference": f"Observation/{one['id']}"} for one in seen])  # fmt: skip
        text = base64.b64encode(b"Seen in clinic. " * 600).decode()
        add("DocumentReference", status="current", type=concept("Letter"), date=day(),
            context={"encounter": [{"reference": f"Encounter/{visit['id']}"}]},
            content=[{"attachment": {"contentType": "text/plain", "data": text}}])  # fmt: skip
        add(
            "FamilyMemberHistory",
            status="completed",
            relationship=concept("Mother"),
            condition=[{"code": concept("Illness"), "onsetString": "at 40"}],
        )
        add("Flag", status="active", code=concept("Flag"))
        add("Goal", lifecycleStatus="active", description=concept("Goal"))
        add("ImagingStudy", status="available", started=day(), description="CT of the chest")
        add("Immunization", status="completed", vaccineCode=concept("Vaccine"),
            occurrenceDateTime=day())  # fmt: skip
        add("Procedure", status="completed", code=concept("Procedure"), performedDateTime=day())
        add("QuestionnaireResponse", status="completed", authored=day(), item=[
            {"text": "How are you?", "answer": [{"valueString": "well enough"}]},
        ])  # fmt: skip
        add("RelatedPerson", name=[{"family": "Example", "given": ["Bo"]}],
            relationship=[concept("Brother")])  # fmt: skip
        add("ServiceRequest", status="active", intent="order", code=concept("Order"))
        add("DeviceRequest", intent="order", codeCodeableConcept=concept("Walker"))
        add("NutritionOrder", intent="order", oralDiet={"type": [concept("Low salt")]})
        add("Specimen", type=concept("Specimen"))
        add("SupplyDelivery", suppliedItem={"itemCodeableConcept": concept("Strips")})
        add("Coverage", status="active", type=concept("Insurance"))
        add("ResearchSubject", status="on-study", study={"display": "Study"})
        add("Consent", status="active", category=[concept("Advance directive")], dateTime=day())

    def entries(self) -> list[Json]:
        """Return the entries of a bundle."""
        return entries(patient(), *self.resources)


def generated(seed: int, *, observations: int = 60) -> list[Json]:
    """Return the entries of a chart with every type."""
    chart = GeneratedChart(seed=seed)
    chart.of_every_type()
    chart.observations(observations)
    return chart.entries()

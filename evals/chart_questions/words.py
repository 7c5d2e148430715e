"""How people call what a chart holds. Names by LOINC code, from common clinical use."""

from evals.chart_questions.charts import Fact

RESULTS: dict[str, tuple[str, ...]] = {
    "4548-4": ("HbA1c", "A1c", "hemoglobin A1c"),
    "718-7": ("hemoglobin", "Hb", "haemoglobin"),
    "4544-3": ("hematocrit", "Hct"),
    "6690-2": ("white blood cells", "WBC", "leukocytes"),
    "789-8": ("red blood cells", "RBC", "erythrocytes"),
    "777-3": ("platelets", "platelet count", "PLT"),
    "787-2": ("MCV",),
    "785-6": ("MCH",),
    "786-4": ("MCHC",),
    "2160-0": ("creatinine", "serum creatinine", "creat"),
    "38483-4": ("creatinine", "serum creatinine", "creat"),
    "33914-3": ("eGFR", "GFR", "estimated GFR"),
    "6299-2": ("BUN", "urea nitrogen"),
    "3094-0": ("BUN", "urea nitrogen"),
    "2947-0": ("sodium", "Na"),
    "2951-2": ("sodium", "Na"),
    "6298-4": ("potassium", "K"),
    "2823-3": ("potassium", "K"),
    "2069-3": ("chloride",),
    "2075-0": ("chloride",),
    "20565-8": ("bicarbonate", "CO2"),
    "2028-9": ("bicarbonate", "CO2"),
    "49765-1": ("calcium",),
    "17861-6": ("calcium",),
    "2339-0": ("glucose", "blood sugar"),
    "2345-7": ("glucose", "blood sugar"),
    "2093-3": ("total cholesterol", "cholesterol"),
    "18262-6": ("LDL", "LDL cholesterol"),
    "2085-9": ("HDL", "HDL cholesterol"),
    "2571-8": ("triglycerides",),
    "1742-6": ("ALT",),
    "1920-8": ("AST",),
    "1975-2": ("bilirubin", "total bilirubin"),
    "1751-7": ("albumin",),
    "2885-2": ("total protein",),
    "6768-6": ("alkaline phosphatase", "ALP"),
    "2857-1": ("PSA", "prostate specific antigen"),
    "2039-6": ("CEA",),
    "14959-1": ("microalbumin creatinine ratio",),
    "55284-4": ("blood pressure", "BP"),
    "85354-9": ("blood pressure", "BP"),
    "8302-2": ("height", "body height"),
    "29463-7": ("weight", "body weight"),
    "39156-5": ("BMI", "body mass index"),
    "8867-4": ("heart rate", "pulse"),
    "9279-1": ("respiratory rate",),
    "8310-5": ("temperature", "body temperature"),
    "72514-3": ("pain score", "pain severity"),
    "72166-2": ("smoking status",),
    "2708-6": ("oxygen saturation", "SpO2"),
    "59408-5": ("oxygen saturation", "SpO2"),
    "89247-1": ("ECOG", "performance status"),
}
"""Two codes of one name are asked about only where a chart holds one of them."""

ABSENT_RESULTS = (
    ("troponin", ("troponin",)),
    ("TSH", ("thyrotropin", "tsh", "thyroid")),
    ("INR", ("inr", "prothrombin")),
    ("CRP", ("c reactive", "crp", "c-reactive")),
    ("ferritin", ("ferritin",)),
    ("vitamin D", ("vitamin d", "25-hydroxy")),
    ("PSA", ("psa", "prostate")),
    ("D-dimer", ("dimer",)),
    ("lactate", ("lactate",)),
    ("potassium", ("potassium",)),
    ("hemoglobin", ("hemoglobin", "haemoglobin")),
    ("uric acid", ("urate", "uric")),
    ("magnesium", ("magnesium",)),
)
ABSENT_DRUGS = ("warfarin", "insulin glargine", "methotrexate", "lithium", "digoxin", "amiodarone")
ABSENT_PROBLEMS = ("asthma", "epilepsy", "gout", "psoriasis", "glaucoma", "multiple sclerosis")
ABSENT_ALLERGENS = ("latex", "sulfa", "peanuts", "iodine contrast")

VALUE = (
    "What is the latest {x}?",
    "most recent {x}?",
    "latest {x} please",
    "What was {his} last {x}?",
    "Show me the newest {x} value.",
    "Tell me {his} current {x}",
    "what's the {x}",
    "Do we have a {x}? What was it most recently?",
    "How high is {his} {x} at present?",
    "{x}, last value and date?",
    "and the {x}?",
    "I need the last {x} on record",
)
TEXT_VALUE = ("What is the {x}?", "latest {x}?", "What is recorded as {his} {x}?")
SERIES = (
    "{x} over time",
    "Show me the course of {his} {x}.",
    "List all {x} values with dates.",
    "How has the {x} changed over time?",
    "previous {x} results?",
    "give me the {x} history",
    "{x} trend please",
)
HIGHEST = (
    "What was the highest {x} ever recorded?",
    "maximum {x}?",
    "What is {his} peak {x}?",
    "When was the {x} highest, and how high?",
)
LOWEST = (
    "What was the lowest {x} on record?",
    "minimum {x}?",
    "When was {his} {x} lowest, and how low?",
)
PROBLEMS = (
    "What are the active problems?",
    "Which problems are active?",
    "problem list please",
    "What conditions does {he} have now?",
    "List the current diagnoses.",
    "What is {he} being followed for? List active conditions.",
)
MEDICATIONS = (
    "What medications is {he} taking?",
    "current meds?",
    "Which drugs does {he} take now?",
    "List the active medications.",
    "What is {he} on at the moment, medication-wise?",
    "medication list please",
)
ALLERGIES = (
    "Any allergies?",
    "What is {he} allergic to?",
    "List the known allergies.",
    "Which allergies are recorded?",
    "allergies?",
)
NO_ALLERGIES = ("Any allergies?", "What is {he} allergic to?", "Which allergies are recorded?")
IS_ACTIVE = (
    "Is {x} still active?",
    "Does {he} currently have {x}?",
    "Has the {x} resolved or is it active?",
)
TAKES = ("Is {he} taking {x} now?", "Does {he} currently take {x}?", "is {he} on {x} at present?")
LAST_VISIT = (
    "When was the last visit?",
    "When was {he} last seen?",
    "date of the most recent encounter?",
    "When did {he} last come in?",
)
LAST_PROCEDURE = (
    "When was the last {x}?",
    "When did {he} last have {x}?",
    "date of the most recent {x}?",
)
LAST_VACCINE = (
    "When was the last {x} vaccination?",
    "When did {he} last get a {x} vaccine?",
    "date of {his} latest {x} shot?",
)
VACCINES = ("Which vaccinations has {he} had?", "immunizations?", "List the vaccines given so far.")
COUNT_VALUES = ("How many {x} measurements are there?", "How often was {x} measured?")
COUNT_VISITS = ("How many visits were there in {x}?", "How many encounters did {he} have in {x}?")
ABSENT_VALUE = (
    "What is the latest {x}?",
    "most recent {x}?",
    "What was {his} last {x}?",
    "{x} over time",
)
HAS = ("Does {he} have {x}?", "Is there a history of {x}?", "any {x}?")
ALLERGIC = ("Is {he} allergic to {x}?", "any allergy to {x}?")

VACCINE_NAMES = (
    ("influenza", "influenza"),
    ("td ", "tetanus"),
    ("tdap", "Tdap"),
    ("hepatitis b", "hepatitis B"),
    ("hep b", "hepatitis B"),
    ("hep a", "hepatitis A"),
    ("pneumococcal", "pneumococcal"),
    ("zoster", "zoster"),
    ("hpv", "HPV"),
    ("mmr", "MMR"),
    ("meningococcal", "meningococcal"),
    ("varicella", "varicella"),
)


def result_names(fact: Fact) -> tuple[str, ...]:
    """Return what people call a result; nothing where only its code says what it is."""
    known = RESULTS.get(fact.code)
    if known:
        return known
    plain = fact.name.partition("[")[0].partition("(")[0].strip()
    return (plain,) if 2 < len(plain) <= 40 else ()


def vaccine_name(display: str) -> str:
    """Return the common name of a vaccine; "" where none is sure."""
    folded = display.casefold()
    return next((name for part, name in VACCINE_NAMES if part in folded), "")


def ingredient(display: str) -> str:
    """Return a drug's name without strength and form; "" for what is no single drug."""
    words = []
    for word in display.replace("/", " / ").split():
        if word[0].isdigit() or word in ("/", "Oral", "Injection", "Pack") or word.endswith("ML"):
            break
        words.append(word)
    name = " ".join(words).strip(" ,").casefold()
    return name if name and "{" not in name else ""

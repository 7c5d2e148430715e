"""What tells something is told from what asks for something."""

import pytest

from services.language.telling import is_told

TOLD = """
she told me this morning she gets short of breath on stairs
her sister had breast cancer at 40
Today she feels dizzy.
he lost 4 kg since March
her left leg is swollen
The patient vomited twice last night.
I saw her yesterday, she is pale
we stopped the ramipril on Monday
by the way, his wife died last year
she still smokes a pack a day
no, he never drank
pt denies chest pain
they moved to Leeds in May
his father and brother both had a stroke
Sie klagt über Kopfschmerzen.
Sie hat mir gesagt, dass sie Osimertinib seit einer Woche nicht mehr nimmt
Ihr Bruder hatte mit 50 einen Herzinfarkt.
heute morgen, sie war müde
Elle se plaint de vertiges.
Su madre tenía diabetes.
she's on apixaban per her daughter
hes allergic to nuts and eggs
K 6.1 called by lab
No known allergies, she says
Keine Allergien bekannt, sagt sie
no allergies per patient
potassium 6.1 reported by phone
the doctor says he is on warfarin
The nurse told me that she vomited
patient: K 6.1
BP 90/60 now
she quit
the wife told me he quit smoking
the daughter reports that she fell
pain 7/10
Temp 38.9 °C, blood cultures taken
kalium ist 6,1
morphine 5 mg iv given at 23:10
5 mg Morphin iv gegeben
""".strip().splitlines()

ASKED = """
what does the note say she said
is she allergic, she says
is she dizzy
LDL 2019
hb 3 months ago
hb 12/2020
last 3 hb
K above 5.5
weight 2 years back
antibiotics given in 2019
drugs given today
what dose of morphine 5 mg was given
K 6.1?
she on metformin
her potassium
her last visit
his stage when
what did she complain about
when was she last seen
she is allergic to penicillin?
is her sister still alive
she takes what
does he smoke
show me her medications
potassium
give me his labs
compare her CEA with last year
her potassium trend
open her chart
she needs an appointment on Tuesday
I need her allergies
we want the tumor board tomorrow
book her with Dr Smith
his meds please
her blood pressure over time
he is diabetic, right
nimmt sie Metformin
sie nimmt Metformin, oder
welche Medikamente sie nimmt
ist er gestürzt
ihre Medikamente
die letzten Leberwerte
der aktuelle Befund
die Medikamente bitte
ses médicaments
la tension artérielle
le dernier PSA
sus alergias
""".strip().splitlines()


@pytest.mark.parametrize("text", TOLD)
def test_a_sentence_with_its_subject_and_verb_is_told(text: str) -> None:
    assert is_told(text)


@pytest.mark.parametrize("text", ASKED)
def test_what_asks_or_orders_is_not_told(text: str) -> None:
    assert not is_told(text)

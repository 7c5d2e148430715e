"""An export holds the rows that were shown, and who made each answer."""

import io

from docx import Document

from data_models.chat_context import Turn
from routes.export import History, as_markdown
from routes.export_word import as_word
from tests.routes.fakes import NOW
from tests.web.chart_scenes import MEDICATIONS, POTASSIUM, answer_of

VIEWS = {view.view_id: view for view in (POTASSIUM, MEDICATIONS)}
TURN = Turn(
    turn_id=1,
    run_id="run_1",
    timestamp=NOW,
    user="Dr. Ada",
    user_message="what is her potassium?",
    agent_responses=[answer_of("run_1")],
)


def test_markdown_holds_the_rows_as_a_table_and_who_made_the_answer() -> None:
    text = as_markdown(History([TURN], VIEWS, patient_id="patient_4"))
    assert "**Radiology** · AI-generated" in text
    assert "| 2026-09-02 | Potassium | 5.6 mmol/L | 3.5-5.1 | high |" in text
    assert "7 older values of Potassium not shown" in text
    assert "Drug 20" in text


def test_word_holds_the_rows_as_a_table_and_what_is_left_out() -> None:
    document = Document(io.BytesIO(as_word(History([TURN], VIEWS, patient_id="patient_4"))))
    potassium, medications = document.tables
    assert [cell.text for cell in potassium.rows[1].cells][:3] == [
        "2026-09-02", "Potassium", "5.6 mmol/L",
    ]  # fmt: skip
    assert len(medications.rows) == 1 + 20
    said = [paragraph.text for paragraph in document.paragraphs]
    assert "AI-generated" in said
    assert "Not shown: 7 older values of Potassium" in said
    assert "2 entries could not be read" in said


def test_rows_that_cannot_be_read_back_leave_the_answer_as_it_is() -> None:
    assert "She takes *warfarin 5 mg* daily." in as_markdown(
        History([TURN], patient_id="patient_4")
    )


def test_what_a_user_wrote_on_several_lines_stays_on_them() -> None:
    turn = TURN.model_copy(update={"user_message": "first line\nsecond **line**"})
    document = Document(io.BytesIO(as_word(History([turn], VIEWS, patient_id="patient_4"))))
    assert "first line\nsecond **line**" in [one.text for one in document.paragraphs]


def test_a_word_in_bold_is_bold_and_a_style_is_of_the_template() -> None:
    answer = TURN.agent_responses[0].model_copy(update={"text": "- She takes **warfarin** daily"})
    turn = TURN.model_copy(update={"agent_responses": [answer]})
    document = Document(io.BytesIO(as_word(History([turn], patient_id="patient_4"))))
    (said,) = [one for one in document.paragraphs if one.text == "She takes warfarin daily"]
    assert said.style is not None
    assert said.style.name == "List Bullet"
    assert [run.text for run in said.runs if run.bold] == ["warfarin"]

"""What a model with a small window gets of a chart: nothing active is missing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from data_models.chart_view import ChartView
from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from group_chat.direct_answers import LOOK_UPS
from group_chat.models.learned import FIRST_CHARS_PER_TOKEN
from group_chat.models.model_settings import ModelProfile
from group_chat.turn_context import GroupChatLimits
from services.records.views import lists
from services.records.views.lines import must_stay, told
from services.records.views.lists import problems
from services.records.views.medications import medications
from services.records.views.summary import chart_summary
from tests.services.records.charts import records_in

SAMPLES = Path(__file__).parents[2] / "samples" / "patients"
WINDOW_TOKENS = 8_192
PROMPT_AND_TOOLS_TOKENS = 2_600
"""Measured with `python -m evals run --suite faithfulness --model scripted`: one first request."""


def small() -> GroupChatLimits:
    return GroupChatLimits(window_tokens=lambda: WINDOW_TOKENS)


@pytest.mark.slow
@pytest.mark.parametrize("patient", [path.stem for path in sorted(SAMPLES.glob("*.json"))])
async def test_what_is_active_is_in_what_a_small_model_gets(patient: str) -> None:
    record = await records_in(SAMPLES, SystemClock()).load(PatientId(patient))
    now = datetime.now(UTC)
    views: list[ChartView] = [
        chart_summary(record, today=now.date(), now=now.isoformat()),
        problems(record),
        medications(record, today=now.date()),
        lists.allergies(record),
    ]
    for view in views:
        text = told(view, limit_chars=small().result_chars).text
        assert len(text) <= small().result_chars
        assert [row.name for row in view.rows if must_stay(row) and row.name not in text] == []


def test_what_is_looked_up_fits_a_small_window_without_cutting() -> None:
    prompt_tokens = ModelProfile(window_tokens=WINDOW_TOKENS).prompt_tokens
    assert prompt_tokens is not None
    room = (prompt_tokens - PROMPT_AND_TOOLS_TOKENS) * FIRST_CHARS_PER_TOKEN
    assert LOOK_UPS * small().result_chars <= room


def test_a_large_or_unknown_window_changes_nothing() -> None:
    assert GroupChatLimits().result_chars == GroupChatLimits().tool_result_chars
    large = GroupChatLimits(window_tokens=lambda: 128_000)
    assert large.result_chars == large.tool_result_chars

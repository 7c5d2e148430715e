"""The figures of page 17 count what is there."""

import pytest

from bench.source import called_by_question, size

pytestmark = pytest.mark.slow


def test_the_product_has_few_protocols_and_its_size_is_counted() -> None:
    figures = {one.name: one for one in size()}
    assert not figures["Protocols"].is_missed
    assert figures["modules"].measured > 500
    assert figures["lines of product Python"].measured > figures["modules"].measured * 50


async def test_a_question_is_followed_from_the_socket_to_the_record() -> None:
    called = await called_by_question()
    assert "TurnPipeline._answer" in called["services/turn_pipeline.py"]
    assert called["services/records/answers/direct.py"]
    assert called["routes/streams/socket_session.py"]
    assert not [name for names in called.values() for name in names if name.startswith("<")]

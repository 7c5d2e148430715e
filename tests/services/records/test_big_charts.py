"""Charts of thousands of entries beside a running event loop."""

import gc
import threading

import pytest

from services.records.big_charts import BIG_ENTRIES, make_view, without_collecting
from tests.services.records.charts import ecog, record


@pytest.mark.slow
async def test_a_big_chart_is_read_off_the_loop_and_a_small_one_in_place() -> None:
    big = record(*(ecog(f"e{number}", "2024", "1") for number in range(BIG_ENTRIES)))
    here = threading.current_thread()
    assert await make_view(big, lambda _: threading.current_thread()) is not here
    assert await make_view(record(), lambda _: threading.current_thread()) is here


def test_the_collector_is_on_again_after_the_last_chart_is_made() -> None:
    with without_collecting():
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()

"""How many charts each principal opens in an hour: who opens very many is noticed."""

from collections import OrderedDict

from data_models.clock import Clock
from data_models.identifiers import PatientId

ALERT_CHARTS = 200
ALERT_SECONDS = 3_600.0
_TABLE_LIMIT = 10_000


class ChartCounter:
    """Counts the different charts that each principal opened in the last hour, in this process."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opened: OrderedDict[str, OrderedDict[PatientId, float]] = OrderedDict()
        self._alerted: dict[str, float] = {}

    def opened(self, principal_id: str, patient_id: PatientId) -> bool:
        """Note an opening; return whether it is the one to alert of, once an hour at most."""
        now = self._clock.monotonic()
        charts = self._opened.setdefault(principal_id, OrderedDict())
        self._opened.move_to_end(principal_id)
        charts[patient_id] = now
        charts.move_to_end(patient_id)
        while charts and now - next(iter(charts.values())) > ALERT_SECONDS:
            charts.popitem(last=False)
        if len(self._opened) > _TABLE_LIMIT:
            gone, _ = self._opened.popitem(last=False)
            self._alerted.pop(gone, None)
        if len(charts) < ALERT_CHARTS:
            return False
        if now - self._alerted.get(principal_id, -ALERT_SECONDS) < ALERT_SECONDS:
            return False
        self._alerted[principal_id] = now
        return True

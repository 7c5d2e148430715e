"""Sentences are checked on what one tool of the turn returned, and not on the whole chart."""

from services.records.views.lists import immunizations
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import stems_of
from tests.services.statements import fresh
from tests.tables import with_cases

_NAMES = {
    "patient_4": "Margaret Anne Whitfield",
    "patient_7": "Tunde Adeyemi",
    "patient_15": "Zoë Łucja Çelik-Sørensen",
    "patient_21": "Georg Hartmann",
    "patient_33": "Jiří Novák",
    "patient_42": "Francis Doyle",
}


@with_cases("chart", "tool", "text", "state")
def test_a_sentence_on_the_rows_of_one_tool_is(
    chart: str, tool: str, text: str, state: str
) -> None:
    rows = KnownRows()
    for view in fresh.views_of(chart):
        if view.tool == tool:
            rows.add_view(view)
    grounds = Grounds(rows=rows, own_names=stems_of(_NAMES[chart]), has_name=True)

    assert MessageCheck(grounds=grounds, speaker=Speaker()).check(text).state == state


@with_cases("text", "state")
def test_a_list_asked_for_by_name_tells_how_often_it_was_given(text: str, state: str) -> None:
    rows = KnownRows()
    rows.add_view(immunizations(fresh.record_of("child"), name="influenza"))
    check = MessageCheck(grounds=Grounds(rows=rows, has_name=True), speaker=Speaker())

    assert check.check(text).state == state

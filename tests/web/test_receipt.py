"""From an answer to what stands behind it: who asked, who answered, what was read and checked."""

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from data_models.chat_context import AgentMessage, Citation, Turn
from data_models.identifiers import PatientId
from services.audit.receipt import ReceiptFacts, receipt_of
from tests.routes.fakes import NOW
from tests.web.axe import violations
from tests.web.conftest import Site

pytestmark = pytest.mark.slow


def receipt(run_id: str) -> bytes:
    said = AgentMessage(
        message_id="m1",
        agent="PatientHistory",
        text="A mass of 3.1 cm.",
        timestamp=NOW,
        citations=[Citation(ref="DiagnosticReport/ct-1", title="CT chest")],
    )
    turn = Turn(
        turn_id=1,
        run_id=run_id,
        timestamp=NOW,
        user="Ada",
        user_message="history",
        agent_responses=[said],
        turn_status="COMPLETED",
    )
    facts = ReceiptFacts(
        conversation="chat_1",
        patient_id=PatientId("patient_4"),
        principal="ada@clinic",
        model="a-model",
        turn=turn,
        executions=(),
        views=(),
        recorded=NOW,
    )
    return receipt_of(facts)


async def test_an_answer_leads_to_its_receipt_and_its_rows(site: Site, browser: Browser) -> None:
    window = ViewportSize(width=1280, height=800)
    page = await site.asked(await browser.new_context(viewport=window), "history of patient_4")
    run_id = site.scheduler.last_run_id(page.url.rpartition("/")[2])
    assert run_id is not None
    site.reader.receipts[run_id] = receipt(run_id)
    await page.get_by_role("button", name="Receipt").last.click()
    sheet = page.get_by_role("dialog", name="Receipt of this answer")
    for told in ("ada@clinic", "Patient History, a-model", "DiagnosticReport/ct-1"):
        await expect(sheet).to_contain_text(told)
    # Whose it is stands with it, and the answer stays readable beside it.
    await expect(sheet.locator(".sheet-who")).to_contain_text("patient_4")
    await expect(page.get_by_role("article").last).to_be_in_viewport()
    assert await violations(page) == []
    async with page.expect_download() as saved:
        await sheet.get_by_role("link", name="Save the receipt").click()
    assert (await saved.value).suggested_filename == f"receipt-{run_id}.json"
    await sheet.get_by_role("button", name="DiagnosticReport/ct-1").click()
    await expect(page.get_by_role("dialog", name="CT chest")).to_be_visible()
    assert site.errors == []


async def test_an_answer_without_one_says_so(site: Site, browser: Browser) -> None:
    page = await site.asked(browser, "history of patient_4")
    await page.get_by_role("button", name="Receipt").last.click()
    alert = page.get_by_role("dialog").get_by_role("alert")
    await expect(alert).to_have_text("This answer left no receipt.")

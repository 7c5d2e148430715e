"""A clinic's morning at the page of the whole server, by keyboard and on a phone."""

import asyncio
import base64
import io
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import pytest_asyncio
from docx import Document
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect
from pypdf import PdfReader

from tests.e2e.server import Server
from tests.services.records.readers.made import pdf
from tests.web.axe import violations
from tests.web.conftest import idle, say
from tests.web.test_identity import INSIDE

pytestmark = pytest.mark.slow
DESKTOP, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
FIRST = ("Margaret Anne Whitfield", "1957-03-14", "female", "patient_4")
SECOND = ("Zoë Łucja Çelik-Sørensen", "1979-11-02", "female", "patient_15")
COLOUR = "mark => getComputedStyle(mark).backgroundColor"
CEA = "Carcinoembryonic antigen"
LETTER = (
    "Discharge letter. Patient: Margaret Anne Whitfield, born 14 March 1957. "
    "We began apixaban 5 mg twice daily. Potassium at discharge was 5.6 mmol/L."
)


@pytest.fixture
def app(built: None, tmp_path: Path) -> Iterator[str]:
    server = Server(folder=tmp_path, environment={"LLM_PROVIDER": "offline"})
    server.start()
    yield server.url
    server.close()


class Morning:
    """A page of the server, and whose chart must be seen on it."""

    def __init__(self, *, page: Page, is_phone: bool) -> None:
        self.page = page
        self.is_phone = is_phone
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    async def ask(self, text: str) -> Locator:
        """Ask, and return the answer once it is whole."""
        answers = self.page.get_by_role("article")
        before = await answers.count()
        await say(self.page, text)
        await expect(answers).not_to_have_count(before)
        await idle(self.page)
        return answers.last

    async def press(self, element: Locator) -> None:
        """Press what is on the screen: with a finger on a phone, by keyboard elsewhere."""
        if self.is_phone:
            await element.tap()
            return
        await element.focus()
        await self.page.keyboard.press("Enter")

    async def find(self, words: str, name: str) -> None:
        """Open the chart of `name`, found by `words`."""
        if self.is_phone:
            await self.press(self.page.get_by_role("button", name="Show conversations"))
        finder = self.page.get_by_role("search")
        await finder.get_by_role("textbox", name="Find a patient").fill(words)
        await self.press(finder.get_by_role("button", name=name))

    async def assert_about(self, who: tuple[str, ...]) -> None:
        """Name, birth date, sex and id stand inside the window, and nothing went wrong in it."""
        await expect(self.page.get_by_role("heading", level=1)).to_contain_text(who[-1])
        await idle(self.page)
        known = await self.page.locator("h1.identity").inner_text()
        assert [one for one in who if one not in known] == []
        assert await self.page.evaluate(INSIDE, list(who)) == []
        assert self.errors == []


@pytest_asyncio.fixture(loop_scope="session", params=[DESKTOP, PHONE], ids=["keyboard", "phone"])
async def morning(app: str, browser: Browser, request: pytest.FixtureRequest) -> Morning:
    is_phone = request.param == PHONE
    context = await browser.new_context(
        viewport=request.param, has_touch=is_phone, is_mobile=is_phone
    )
    walk = Morning(page=await context.new_page(), is_phone=is_phone)
    await walk.page.goto(app)
    return walk


async def test_a_morning_from_home_to_paper(morning: Morning) -> None:
    await come_in(morning)
    await look_at_the_chart(morning)
    await read_a_source(morning)
    await drop_a_letter(morning)
    await go_through_a_plan(morning)
    await print_and_export(morning)
    await see_another_patient(morning)
    await lay_two_charts_side_by_side(morning)
    await clear_and_undo(morning)


async def come_in(morning: Morning) -> None:
    page = morning.page
    await expect(page.get_by_text("Ask about a patient")).to_be_visible()
    await morning.find("whitfield", "Margaret Anne Whitfield")
    await morning.assert_about(FIRST)


async def look_at_the_chart(morning: Morning) -> None:
    page = morning.page
    await morning.press(page.get_by_role("button", name="Chart", exact=True))
    chart = page.locator(".chart-pane")
    await expect(chart.get_by_text("osimertinib").first).to_be_visible()
    await morning.assert_about(FIRST)
    await morning.press(chart.get_by_role("tab", name="Results"))
    await morning.press(chart.get_by_role("button", name=CEA).first)
    drawn = chart.get_by_role("slider")
    await expect(drawn).to_be_visible()
    await drawn.focus()
    await page.keyboard.press("Home")
    await expect(drawn).to_have_attribute("aria-valuetext", "1 Mar 2024: 18.4 ng/mL")
    await morning.assert_about(FIRST)
    way_back = "Talk" if morning.is_phone else "Chart"
    await morning.press(page.get_by_role("button", name=way_back, exact=True))


async def read_a_source(morning: Morning) -> None:
    answer = await morning.ask("What is the current stage?")
    await morning.press(answer.get_by_role("link", name="Source 1", exact=True).first)
    sheet = morning.page.get_by_role("dialog")
    await expect(sheet.locator("mark").first).to_be_visible()
    if not morning.is_phone:
        beside, read = await sheet.bounding_box(), await answer.bounding_box()
        assert beside is not None
        assert read is not None
        assert read["x"] + read["width"] <= beside["x"] + 1
    await morning.press(sheet.get_by_role("button", name="Close"))
    await expect(sheet).to_have_count(0)


async def drop_a_letter(morning: Morning) -> None:
    page, letter = morning.page, pdf([LETTER])
    await dropped(page, "other.pdf", pdf(["Patient: Tunde Adeyemi, born 1968-07-21. He has gout."]))
    await expect(page.get_by_text("names another patient")).to_be_visible()
    await morning.press(page.get_by_role("button", name="OK"))
    await dropped(page, "cardiology.pdf", letter)
    question = page.get_by_role("group", name="A file for this patient")
    await expect(question).to_contain_text("Keep cardiology.pdf (1 page) with ")
    await expect(question).to_contain_text("Margaret Anne Whitfield")
    await expect(question).to_contain_text("It names this patient, with birth date or number.")
    await morning.assert_about(FIRST)
    assert await violations(page) == []
    await morning.press(question.get_by_role("button", name="Keep with this patient"))
    await expect(page.get_by_text("cardiology.pdf is kept with this patient")).to_be_visible()

    answer = await morning.ask("Is she on apixaban?")
    await expect(answer).to_contain_text("No drug “apixaban” in the record")
    await expect(answer).to_contain_text("A paper that was given here, not the record, says:")
    await morning.press(answer.get_by_role("link", name="Source 1", exact=True).first)
    sheet = page.get_by_role("dialog")
    await expect(sheet.locator("mark")).to_contain_text("apixaban 5 mg twice daily")
    await expect(sheet).to_contain_text("attached paper")
    assert await violations(page) == []
    await morning.press(sheet.get_by_role("button", name="Close"))


async def dropped(page: Page, name: str, data: bytes) -> None:
    """Let a file fall on the page as from the desk."""
    drop = """([name, data]) => {
        const bytes = Uint8Array.from(atob(data), one => one.charCodeAt(0));
        const files = new DataTransfer();
        files.items.add(new File([bytes], name, { type: "application/pdf" }));
        const event = { bubbles: true, cancelable: true, dataTransfer: files };
        document.querySelector(".middle").dispatchEvent(new DragEvent("drop", event));
    }"""
    await page.evaluate(drop, [name, base64.b64encode(data).decode()])


async def go_through_a_plan(morning: Morning) -> None:
    page = morning.page
    await morning.ask("start tumor board")
    await morning.press(page.get_by_role("button", name="Confirm"))
    await expect(page.get_by_text("All steps of the plan are done.").last).to_be_visible()
    await idle(page)
    worked = page.locator("details.tool").last
    await expect(worked).not_to_have_attribute("open", "")
    await morning.press(worked.locator("> summary"))
    await expect(worked.locator("pre, details").first).to_be_visible()


async def print_and_export(morning: Morning) -> None:
    page = morning.page
    sheets = PdfReader(io.BytesIO(await page.pdf(format="A4"))).pages
    assert len(sheets) > 1
    for sheet in sheets:
        # A font may draw two letters as one.
        text = " ".join(unicodedata.normalize("NFKC", sheet.extract_text()).split())
        assert [one for one in FIRST if one not in text] == []
    forms = {form: await exported(morning, form) for form in ("md", "docx", "json")}
    as_text = forms["md"].decode()
    as_word = "\n".join(line.text for line in Document(io.BytesIO(forms["docx"])).paragraphs)
    as_rows = orjson.loads(forms["json"])
    for text in (as_text, as_word):
        assert "Margaret Anne Whitfield" in text
        assert "1957-03-14" in text
        assert "What is the current stage?" in text
        assert "cardiology.pdf (1 page), given " in text
    assert as_rows["patient"]["birth_date"] == "1957-03-14"
    assert as_rows["patient_id"] == "patient_4"
    assert [one["file_name"] for one in as_rows["attachments"]] == ["cardiology.pdf"]


async def exported(morning: Morning, form: str) -> bytes:
    await morning.press(morning.page.locator("summary", has_text="Export"))
    async with morning.page.expect_download() as downloaded:
        await morning.press(morning.page.locator(f".menu a[download$='.{form}']"))
    saved = await (await downloaded.value).path()
    return await asyncio.to_thread(saved.read_bytes)


async def see_another_patient(morning: Morning) -> None:
    page = morning.page
    mark = page.locator("h1 .patient-mark")
    first = await mark.inner_text(), await mark.evaluate(COLOUR)
    await morning.find("1979-11-02", "Zoë Łucja Çelik-Sørensen")
    await morning.assert_about(SECOND)
    assert await mark.inner_text() != first[0]
    assert await mark.evaluate(COLOUR) != first[1]
    said = page.get_by_role("list", name="Conversation")
    await expect(said.get_by_text("What is the current stage?")).to_have_count(0)
    await morning.press(page.locator(".chip", has_text="patient_4"))
    await morning.assert_about(FIRST)
    assert (await mark.inner_text(), await mark.evaluate(COLOUR)) == first


async def lay_two_charts_side_by_side(morning: Morning) -> None:
    page = morning.page
    await morning.ask("compare her problems with patient_15")
    await morning.press(page.get_by_role("button", name="Yes", exact=True))
    for _, known in (FIRST[-2:], SECOND[-2:]):
        await expect(page.get_by_role("columnheader", name=known)).to_be_visible()


async def clear_and_undo(morning: Morning) -> None:
    page = morning.page
    await morning.ask("clear patient context")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("No active patient")
    await morning.press(page.get_by_role("button", name="Undo the clear"))
    await idle(page)
    await morning.assert_about(FIRST)
    await expect(page.get_by_text("What is the current stage?").first).to_be_attached()
    await expect(page.locator(".chip", has_text="Zoë Łucja Çelik-Sørensen")).to_be_attached()

"""Operators at their page, in a real browser, before the whole server with stored sessions."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.async_api import Browser, Locator, Page, Route, expect

from data_models.identifiers import hashed
from evals.talk import talking
from tests.e2e.server import Server
from tests.routes.conftest import hashed_key
from tests.services.scenarios.clinic import SECOND, Clinic, Visitor, crowd
from tests.web.axe import violations

pytestmark = pytest.mark.slow
MINOR = Visitor("minor", "confirmation", age=12)
CROWD = [MINOR, *crowd(240)]


def running(folder: Path) -> Iterator[Server]:
    """Run a server whose sessions are the crowd's."""
    keys = ",".join(f"{name}:{hashed_key(f'{name}-key')}" for name in ("ann", "bob", "eve"))
    server = Server(
        folder=folder,
        environment={
            "LLM_PROVIDER": "offline",
            "AUTH_MODE": "api_key",
            "API_KEYS": keys,
            "OPERATORS": "ann,bob",
        },
    )
    asyncio.run(Clinic(server.data).open(CROWD))
    server.start()
    yield server
    server.close()


@pytest.fixture
def server(built: None, tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own."""
    yield from running(tmp_path)


@pytest.fixture(scope="module")
def shared(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that change nothing."""
    yield from running(tmp_path_factory.mktemp("operators"))


async def signed_in(browser: Browser, server: Server, who: str, **options: object) -> Page:
    context = await browser.new_context(**options)  # type: ignore[arg-type]
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(f"{server.url}/operator")
    await page.get_by_label("Access key or token").fill(f"{who}-key")
    await page.keyboard.press("Enter")
    return page


async def upload(page: Page, definition: str) -> None:
    await page.get_by_role("button", name="Upload a version").click()
    await page.get_by_label("Definition").fill(definition)
    await page.get_by_role("button", name="Check").click()


def status(page: Page, text: str) -> Locator:
    return page.locator(".chip.status", has_text=text).first


async def said_yes(page: Page) -> None:
    await page.get_by_role("dialog").get_by_role("button", name="Yes").click()


async def problems_are_named(ann: Page) -> None:
    await upload(ann, SECOND.replace("age < 18", "agee < 18").replace("rejected,", "rejectd,"))
    problems = ann.get_by_role("alert")
    await expect(problems).to_contain_text("2 problems")
    await expect(problems).to_contain_text("step 'age_check', transition 1: there is no step")
    await expect(problems).to_contain_text("step 'age_check', transition 1, condition")
    await ann.get_by_label("Definition").fill(SECOND)
    await ann.get_by_role("button", name="Check").click()
    await expect(ann.get_by_text("version 2, is valid: 12 steps")).to_be_visible()
    await ann.get_by_role("button", name="Store and plan the migration").click()


async def the_summary_says_what_will_happen(ann: Page) -> None:
    await expect(ann.get_by_role("heading", name="v1 → v2")).to_be_visible()
    await expect(ann.locator(".tile.total_anchors dd")).to_have_text("10")
    await expect(ann.locator(".tile.estimated_sessions_affected dd")).to_have_text("241")
    blocked = ann.locator(".warnings")
    await expect(blocked).to_contain_text("'Order Confirmation' for which 'age < 18'")
    await expect(blocked).to_contain_text("'Payment Processed' is completed it prevents this")
    fields = ann.get_by_role("region", name="Fields to collect")
    await expect(fields).to_contain_text("age at Choice of service")


async def the_drawings_show_each_step(ann: Page) -> None:
    drawing = ann.get_by_role("group", name="v2 · proposed")
    await expect(drawing.get_by_role("button")).to_have_count(12)
    await drawing.get_by_role("button", name="Age: Inserted · New fork").press("Enter")
    await expect(ann.locator(".about-step")).to_contain_text("Only in this version.")
    await drawing.get_by_role("button", name="Checkout: Anchor").press("Space")
    await expect(ann.locator(".about-step")).to_have_count(2)


async def a_policy_is_edited(ann: Page) -> None:
    await ann.locator("summary", has_text="of Welcome").press("Enter")
    await ann.get_by_label("Only these channels").first.fill("msteams")
    await ann.get_by_label("Only these channels").first.press("Tab")
    await expect(ann.get_by_text("1 policy changed, not saved")).to_be_visible()
    await expect(ann.get_by_role("button", name="Approve")).to_be_disabled()
    await ann.get_by_role("button", name="Save policies").click()
    await expect(ann.get_by_text("scope: msteams only")).to_be_visible()


async def a_dry_run_names_every_outcome(ann: Page) -> None:
    await ann.get_by_role("button", name="Run over all sessions").click()
    await expect(ann.get_by_text("241 of 241 sessions")).to_be_visible()
    await ann.get_by_label("Show", exact=True).select_option("blocked")
    row = ann.get_by_role("row", name="Order Confirmation").first
    await expect(row).to_contain_text("checkpoint 'Payment Processed' prevents this")
    assert "patient_4" not in await ann.content()
    assert "session-minor" not in await ann.content()


# The browser tells of a closed dialog in a task of its own, after an Enter that came at once.
NO_AND_AT_ONCE_AGAIN = """async () => {
    const buttons = [...document.querySelectorAll("button")];
    const labelled = name => buttons.find(button => button.innerText === name);
    labelled("No").click();
    await Promise.resolve();
    labelled("Deploy").click();
}"""


async def a_second_person_deploys(ann: Page, bob: Page) -> None:
    await expect(ann.get_by_role("button", name="Approve")).to_be_disabled()
    await expect(ann.get_by_text("A second person must approve")).to_be_visible()
    await bob.get_by_role("tab", name="Migration plan").click()
    await bob.get_by_role("button", name="Approve").click()
    await expect(status(bob, "Approved")).to_be_visible()

    await bob.get_by_role("button", name="Deploy", exact=True).click()
    await expect(bob.get_by_role("dialog")).to_contain_text("Deploy to all sessions?")
    await bob.evaluate(NO_AND_AT_ONCE_AGAIN)
    await expect(bob.get_by_role("dialog")).to_contain_text("Deploy to all sessions?")
    await said_yes(bob)
    await expect(bob.get_by_role("heading", name="Deployment of v2")).to_be_visible()
    await expect(bob.get_by_text("241 of 241 sessions looked at · 241 marked")).to_be_visible()
    await expect(status(bob, "active v2")).to_be_visible()


async def the_old_content_comes_back(bob: Page) -> None:
    await bob.get_by_role("tab", name="Sessions").click()
    await expect(bob.get_by_role("table").first.get_by_role("row", name="v1")).to_contain_text(
        "241"
    )
    await expect(bob.get_by_text("A condition cannot be decided").first).to_be_visible()

    await bob.get_by_role("tab", name="Versions").click()
    await bob.get_by_role("button", name="Roll back to v1").click()
    await said_yes(bob)
    await expect(bob.get_by_role("heading", name="v2 → v3")).to_be_visible()
    await expect(bob.locator(".tile.nodes_deleted dd")).to_have_text("2")
    await bob.get_by_role("tab", name="Audit trail").click()
    trail = bob.get_by_role("table")
    for act in ("Version proposed", "Policies changed", "Approved", "Rollback proposed"):
        await expect(trail).to_contain_text(act)
    await expect(trail).to_contain_text("key:bob")


async def test_a_version_goes_its_whole_way(server: Server, browser: Browser) -> None:
    ann, bob = await signed_in(browser, server, "ann"), await signed_in(browser, server, "bob")
    await problems_are_named(ann)
    await the_summary_says_what_will_happen(ann)
    await the_drawings_show_each_step(ann)
    await a_policy_is_edited(ann)
    await a_dry_run_names_every_outcome(ann)
    await a_second_person_deploys(ann, bob)
    await the_old_content_comes_back(bob)


async def tabbed_to(page: Page, target: Locator) -> None:
    """Press Tab until `target` has the focus."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await target.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("the keyboard does not get there")


async def proposes_by_keyboard(ann: Page) -> None:
    await tabbed_to(ann, ann.get_by_role("button", name="Upload a version"))
    await ann.keyboard.press("Enter")
    await tabbed_to(ann, ann.get_by_label("Definition"))
    await ann.keyboard.insert_text(SECOND)
    await tabbed_to(ann, ann.get_by_role("button", name="Check"))
    await ann.keyboard.press("Enter")
    await expect(ann.get_by_role("status").filter(has_text="is valid: 12 steps")).to_be_focused()
    await tabbed_to(ann, ann.get_by_role("button", name="Store and plan the migration"))
    await ann.keyboard.press("Enter")
    await expect(ann.get_by_text("A second person must approve")).to_be_visible()
    await expect(ann.get_by_text("active v1 · waiting for approval")).to_be_visible()


async def approves_and_deploys_by_keyboard(bob: Page) -> None:
    skip = bob.get_by_role("link", name="Skip to the decision")
    await expect(skip).to_be_attached()
    await tabbed_to(bob, skip)
    await bob.keyboard.press("Enter")
    await tabbed_to(bob, bob.get_by_role("button", name="Approve"))
    await bob.keyboard.press("Enter")
    await expect(status(bob, "Approved")).to_be_visible()
    await tabbed_to(bob, bob.get_by_role("button", name="Deploy", exact=True))
    await bob.keyboard.press("Enter")
    question = bob.get_by_role("dialog")
    await expect(question.get_by_role("button", name="No")).to_be_focused()
    await bob.keyboard.press("Enter")
    await expect(question).to_have_count(0)
    await expect(status(bob, "Approved")).to_be_visible()
    await bob.keyboard.press("Enter")
    await tabbed_to(bob, question.get_by_role("button", name="Yes"))
    await bob.keyboard.press("Enter")
    await expect(status(bob, "active v2")).to_be_visible()


async def test_two_people_approve_and_deploy_by_keyboard(server: Server, browser: Browser) -> None:
    ann, bob = await signed_in(browser, server, "ann"), await signed_in(browser, server, "bob")
    await proposes_by_keyboard(ann)
    await approves_and_deploys_by_keyboard(bob)
    await expect(ann.get_by_role("button", name="Appointment booking")).to_contain_text("active v2")


async def test_a_canary_reaches_a_share_and_is_widened(server: Server, browser: Browser) -> None:
    ann, bob = await signed_in(browser, server, "ann"), await signed_in(browser, server, "bob")
    await upload(ann, SECOND)
    await ann.get_by_role("button", name="Store and plan the migration").click()
    await expect(ann.get_by_role("heading", name="v1 → v2")).to_be_visible()
    await bob.reload()
    await bob.get_by_label("Access key or token").fill("bob-key")
    await bob.keyboard.press("Enter")
    await bob.get_by_role("button", name="Approve").click()
    share = bob.get_by_label("Canary share")
    await share.focus()
    for _ in range(18):
        await share.press("ArrowLeft")
    await bob.get_by_role("button", name="Deploy", exact=True).click()
    await expect(bob.get_by_role("dialog")).to_contain_text("Deploy to 10 % of the sessions?")
    await said_yes(bob)
    await expect(bob.get_by_text("Canary: 10 % of the sessions")).to_be_visible()
    await bob.get_by_role("button", name="Deploy to all").click()
    await expect(bob.get_by_text("241 marked")).to_be_visible()
    await expect(status(bob, "Done")).to_be_visible()


async def test_whoever_is_no_operator_sees_nothing(shared: Server, browser: Browser) -> None:
    eve = await signed_in(browser, shared, "eve")
    await expect(eve.get_by_text("This page is for operators")).to_be_visible()
    await expect(eve.get_by_text("Appointment booking")).to_have_count(0)


async def planned(page: Page) -> None:
    """Upload the second version, a broken one first, unless somebody has."""
    await expect(page.get_by_role("button", name="Appointment booking")).to_contain_text(
        "active v1"
    )
    if await page.get_by_text("waiting for approval", exact=False).count() == 0:
        await upload(page, SECOND.replace("age < 18", "agee < 18"))
        await expect(page.get_by_role("alert")).to_be_visible()
        assert await violations(page) == []
        await page.get_by_label("Definition").fill(SECOND)
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("button", name="Store and plan the migration").click()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1360), ("dark", 390)])
async def test_axe_finds_nothing(shared: Server, browser: Browser, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 844}
    page = await signed_in(browser, shared, "ann", color_scheme=scheme, viewport=viewport)
    await expect(page.get_by_role("tablist")).to_be_visible()
    await planned(page)
    await page.get_by_role("button", name="Run over all sessions").click()
    await expect(page.get_by_text("241 of 241 sessions")).to_be_visible()
    await page.locator("summary", has_text="of Welcome").click()
    await page.get_by_text("The same as a list").click()
    await page.get_by_role("button", name="Age: Inserted · New fork").click()
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for tab in ("Sessions", "Versions", "Audit trail"):
        await page.get_by_role("tab", name=tab).click()
        await expect(page.get_by_role("tabpanel").get_by_role("heading").first).to_be_visible()
        assert await violations(page) == [], tab


async def answered_by_keyboard(page: Page) -> None:
    """Agree to what the dialog asks."""
    question = page.get_by_role("dialog")
    await expect(question.get_by_role("button", name="No")).to_be_focused()
    await tabbed_to(page, question.get_by_role("button", name="Yes"))
    await page.keyboard.press("Enter")
    await expect(question).to_have_count(0)


async def acted_by_keyboard(page: Page, action: str) -> None:
    # The form for all sessions has the same labels, and stands there first.
    await page.locator("#act-kind").select_option(action)
    await tabbed_to(page, page.locator("#act-reason"))
    await page.keyboard.insert_text("stuck at the scheduler")
    await tabbed_to(page, page.get_by_role("button", name="Do it", exact=True))
    await page.keyboard.press("Enter")
    await answered_by_keyboard(page)


async def test_a_session_is_opened_and_acted_on_by_keys(server: Server, browser: Browser) -> None:
    ann = await signed_in(browser, server, "ann")
    await tabbed_to(ann, ann.get_by_role("tab", name="Migration plan"))
    await ann.keyboard.press("ArrowRight")
    first = ann.get_by_role("button", name="Open").first
    await expect(first).to_be_visible()
    await tabbed_to(ann, first)
    await ann.keyboard.press("Enter")
    await expect(ann.locator("#session-title")).to_be_focused()
    await expect(
        ann.get_by_text("On the review list: A condition cannot be decided")
    ).to_be_visible()
    assert await violations(ann) == []
    await acted_by_keyboard(ann, "resume")
    await expect(ann.get_by_text("It is tried again")).to_be_visible()
    await acted_by_keyboard(ann, "pin")
    # The status line says it too, for as long as nothing else is done.
    held = ann.get_by_text("Held on its version.").filter(has_text="of version 1")
    await expect(held).to_be_visible()
    await acted_by_keyboard(ann, "end")
    await expect(ann.get_by_text("It was ended; its user is told.")).to_be_visible()
    assert "patient_4" not in await ann.content()


async def test_what_is_read_anew_late_takes_no_word_of_the_next_act(
    server: Server, browser: Browser
) -> None:
    ann = await signed_in(browser, server, "ann")
    await ann.get_by_role("tab", name="Sessions").click()
    await ann.get_by_role("button", name="Open").first.click()
    await expect(ann.locator("#session-title")).to_be_focused()
    shown = asyncio.Event()

    async def late(route: Route) -> None:
        await shown.wait()
        await route.continue_()

    await ann.route("**/api/operator/scenarios", late)
    await acted_by_keyboard(ann, "resume")
    await expect(ann.get_by_text("It is tried again")).to_be_visible()
    reason = ann.locator("#act-reason")
    await expect(reason).to_have_value("")
    await reason.fill("held for now")
    async with ann.expect_response("**/api/operator/scenarios"):
        shown.set()
    await ann.unroute("**/api/operator/scenarios")
    await expect(reason).to_have_value("held for now")


async def test_a_session_is_moved_and_asked_again_there(server: Server, browser: Browser) -> None:
    talker = Visitor("talker", "day", said=(("service", "follow-up"),))
    await Clinic(server.data).admit([talker])
    ann = await signed_in(browser, server, "ann")
    await ann.get_by_role("tab", name="Sessions").click()
    await ann.locator("#find-session").fill(hashed("session-talker")[:10])
    await ann.keyboard.press("Enter")
    await expect(ann.locator("#session-title")).to_be_focused()
    await ann.locator("#act-kind").select_option("move")
    await ann.locator("#act-step").select_option("contact")
    assert await violations(ann) == []
    await acted_by_keyboard(ann, "move")
    await expect(ann.get_by_text("It was moved; its user is told.")).to_be_visible()
    await ann.locator("#act-kind").select_option("ask_again")
    await ann.locator("#act-field").select_option("service")
    assert await violations(ann) == []
    await acted_by_keyboard(ann, "ask_again")
    await expect(ann.get_by_text("The answer is asked again.")).to_be_visible()
    await expect(ann.get_by_text("follow-up")).to_have_count(0)


async def test_sessions_are_tried_again_at_once_and_the_scenario_is_withdrawn(
    server: Server, browser: Browser
) -> None:
    ann = await signed_in(browser, server, "ann")
    await ann.get_by_role("tab", name="Sessions").click()
    many = ann.get_by_role("region", name="Many sessions at once")
    await many.get_by_label("Reason, for the audit trail").fill("the rule is mended")
    await many.get_by_role("button", name="Do it for all of them").click()
    await said_yes(ann)
    await expect(many.get_by_text("done, 0 refused.")).to_be_visible()
    await expect(ann.get_by_text("Nothing to review.")).to_be_visible()
    await ann.get_by_label("Why it is withdrawn").fill("wrong fees")
    await ann.get_by_role("button", name="Withdraw the scenario").click()
    await said_yes(ann)
    await expect(ann.get_by_text("It is withdrawn: wrong fees")).to_be_visible()
    assert await violations(ann) == []
    await ann.get_by_role("button", name="Offer it again").click()
    await expect(ann.get_by_label("Why it is withdrawn")).to_be_visible()


async def after_a_while(route: Route) -> None:
    await asyncio.sleep(1)
    await route.continue_()


async def test_a_version_is_played_before_it_is_stored_and_mapped_by_hand_after(
    server: Server, browser: Browser
) -> None:
    ann = await signed_in(browser, server, "ann")
    await upload(ann, SECOND)
    await ann.get_by_role("button", name="Play").click()
    await expect(ann.get_by_role("list", name="Preview")).to_contain_text("age")
    await ann.get_by_label("Your answer").fill("12")
    await ann.keyboard.press("Enter")
    await expect(ann.get_by_role("list", name="Preview")).to_contain_text("Booking by a guardian")
    assert await violations(ann) == []
    await ann.get_by_role("button", name="Store and plan the migration").click()
    await expect(ann.get_by_role("region", name="In plain words")).to_contain_text("“Age” is new")
    await ann.locator("summary", has_text="Map a step by hand").press("Enter")
    await ann.get_by_label("Step of the old version").select_option("reminder")
    await ann.get_by_label("is this step of the new version").select_option("rejected")
    # The trail is opened while the act is under way, and shows it when it is done.
    await ann.route("**/plan/mapping", after_a_while)
    await ann.get_by_role("button", name="Plan again with this pair").click()
    await ann.get_by_role("tab", name="Audit trail").click()
    await expect(ann.get_by_role("table")).to_contain_text("Steps mapped by hand")


async def test_the_quality_of_answers_is_shown_by_agent(server: Server, browser: Browser) -> None:
    async with talking(server.url, "ann-key") as talk:
        await talk.say("switch to patient_4", seconds=60)
        turn = await talk.say("@Radiology please summarise the newest imaging", seconds=60)
    assert [one.agent for one in turn.messages] == ["Radiology"], turn
    ann = await signed_in(browser, server, "ann")
    await ann.get_by_role("button", name="Quality of answers").click()
    await expect(ann.get_by_role("heading", name="Quality of answers")).to_be_visible()
    await expect(ann.get_by_role("row", name="Radiology")).to_contain_text("100.0 %")
    assert await violations(ann) == []


async def test_who_reviews_emergencies_sees_them_and_no_scenario(
    built: None, browser: Browser, tmp_path: Path
) -> None:
    names = {"ann": "chat", "rhea": "reviewer"}
    keys = [
        {"name": name, "sha256": hashed_key(f"{name}-key"), "scopes": [scope]}
        for name, scope in names.items()
    ]
    (tmp_path / "keys.yaml").write_text(yaml.safe_dump({"keys": keys}))
    (tmp_path / "care.yaml").write_text("key:ann: [patient_7]\n")
    server = Server(
        folder=tmp_path,
        environment={
            "LLM_PROVIDER": "offline",
            "AUTH_MODE": "api_key",
            "API_KEYS_FILE": str(tmp_path / "keys.yaml"),
            "ACCESS_POLICY": "roster",
            "CARE_ROSTER_FILE": str(tmp_path / "care.yaml"),
            "BREAK_GLASS_MINUTES": "30",
        },
    )
    server.start()
    try:
        async with talking(server.url, "ann-key") as talk:
            await talk.say("patient_4", seconds=60)
            await talk.say("break glass: unconscious in the emergency room", seconds=60)
        rhea = await signed_in(browser, server, "rhea")
        found = rhea.get_by_role("article", name="key:ann opened patient_4")
        await expect(found).to_contain_text("unconscious in the emergency room")
        assert await violations(rhea) == []
        await found.get_by_label("What was found").fill("Brought in by ambulance.")
        await found.get_by_role("button", name="Justified", exact=True).click()
        await expect(found).to_contain_text("Justified by key:rhea")
        await expect(found.get_by_role("button")).to_have_count(0)
        await rhea.reload()
        await rhea.get_by_label("Access key or token").fill("ann-key")
        await rhea.keyboard.press("Enter")
        await expect(rhea.get_by_text("This page is for operators.")).to_be_visible()
    finally:
        server.close()

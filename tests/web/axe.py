"""axe-core in the page: every rule of WCAG 2.2 A and AA, and axe's best practices."""

from pathlib import Path
from typing import Any

from playwright.async_api import Page

PROGRAM = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


async def violations(page: Page) -> list[str]:
    """Return what axe finds wrong, a line for each element."""
    # The page's policy refuses a script element; the browser's own evaluation passes.
    await page.evaluate(PROGRAM.read_text("utf-8"))
    found: dict[str, Any] = await page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", list(TAGS)
    )
    assert found["passes"], "axe has looked at nothing"
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]

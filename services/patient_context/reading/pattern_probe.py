"""Times a regular expression on hostile texts; run as a program, so that it can be stopped.

Reads `{"source", "texts", "limit_seconds"}` as JSON from standard input and writes `ok` or
`slow`. A match cannot be interrupted inside the server's own process.
"""

import json
import re
import sys
import time


def main() -> None:
    """Time every text; stop at the first that takes too long."""
    task = json.load(sys.stdin)
    compiled = re.compile(task["source"], re.ASCII | re.IGNORECASE)
    for text in task["texts"]:
        started = time.process_time()
        compiled.fullmatch(text)
        if time.process_time() - started > task["limit_seconds"]:
            sys.stdout.write("slow")
            return
    sys.stdout.write("ok")


if __name__ == "__main__":
    main()

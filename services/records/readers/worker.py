"""The process that takes strangers' documents apart: `python -m services.records.readers.worker`.

It reads jobs from standard input (a line of JSON with `size` and `media_type`, then the bytes) and
answers each with a line of JSON (`pages`, `problem`). It has no network, no settings and no files;
its memory and its processor time are bounded, and who started it kills it when it takes too long.
"""

import json
import resource
import sys

from data_models.errors import RecordsUnreadableError
from services.records.readers.formats import read_any
from services.records.readers.result import MEMORY_LIMIT_BYTES, ReadDocument


def answer(data: bytes, media_type: str) -> ReadDocument:
    """Return the text of one document, or why there is none."""
    try:
        return read_any(data, media_type)
    except RecordsUnreadableError as error:
        return ReadDocument(problem=str(error))
    except MemoryError:
        return ReadDocument(problem="it takes more memory than a document may")


def main() -> None:
    """Bound this process, then serve."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for line in iter(sys.stdin.buffer.readline, b""):
        job = json.loads(line)
        found = answer(sys.stdin.buffer.read(job["size"]), job["media_type"])
        said = {"pages": found.pages, "problem": found.problem}
        sys.stdout.buffer.write(json.dumps(said, ensure_ascii=True).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

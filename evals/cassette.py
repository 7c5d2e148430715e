"""A recorded session with a model, for replaying it without one; what changed shows as a diff."""

import difflib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from data_models.errors import ConfigurationError
from evals.wire import Asked

Json: TypeAlias = dict[str, Any]
_IDS = re.compile(r"\b(chat|run|msg|call|plan|question|turn|point|view|item)_[A-Za-z0-9_-]{6,64}")
_TIMES = re.compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?")
_NONCES = re.compile(r"\b[0-9a-f]{8,64}\b")
DIFF_LINES = 40


@dataclass(slots=True)
class Entry:
    """One request and its answer."""

    case: str
    request: str
    answer: str
    status: int
    is_used: bool = False

    @property
    def key(self) -> str:
        """What finds it again."""
        return hashlib.sha256(self.request.encode()).hexdigest()

    @property
    def kind(self) -> str:
        """Which question it is: its tools and its schema."""
        return _kind(orjson.loads(self.request))


def normal(body: Json) -> str:
    """Return a request as text that is the same in each run: ids, times and nonces are masked."""
    kept = {key: body[key] for key in sorted(body) if key not in ("model", "user", "seed")}
    text = orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    masked = _IDS.sub(r"\1_…", _TIMES.sub("<time>", text))
    return _NONCES.sub("<nonce>", masked)


def _kind(body: Json) -> str:
    tools = [one["function"]["name"] for one in body.get("tools") or ()]
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("name", "")
    return f"{schema}|{','.join(tools)}"


def record(file: Path, *, model: str, asked: Iterable[tuple[str, Asked]]) -> None:
    """Write a cassette: a head, then a line for each request with the case that it belongs to."""
    lines = [orjson.dumps({"model": model, "form": 1})]
    for case, one in asked:
        row = {
            "case": case,
            "request": normal(one.body),
            "answer": one.answer,
            "status": one.status,
        }
        lines.append(orjson.dumps(row))
    file.write_bytes(b"\n".join(lines) + b"\n")


@dataclass(slots=True)
class Player:
    """Answers from a cassette.

    Attributes:
        diffs: Requests that were not asked like this when it was recorded, as diffs by case.
    """

    model: str
    entries: dict[str, list[Entry]]
    diffs: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, file: Path) -> "Player":
        """Read a cassette.

        Raises:
            ConfigurationError: it cannot be read.
        """
        try:
            head, *rows = [orjson.loads(one) for one in file.read_bytes().splitlines() if one]
            entries: dict[str, list[Entry]] = defaultdict(list)
            for row in rows:
                entries[row["case"]].append(Entry(**row))
            return cls(model=str(head["model"]), entries=dict(entries))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"{file}: no cassette: {type(error).__name__}"
            raise ConfigurationError(f"{problem}. Record one with --record {file}") from error

    def answer(self, case: str, body: Json) -> tuple[int, str, bytes]:
        """Return status, content type and body for a request of a case."""
        asked = Entry(case=case, request=normal(body), answer="", status=0)
        left = [one for one in self.entries.get(case, ()) if not one.is_used]
        found = next((one for one in left if one.key == asked.key), None)
        if found is None:
            found = next((one for one in left if one.kind == asked.kind), None)
            self.diffs.append((case, _diff(found.request if found else "", asked.request)))
        if found is None:
            problem = {"error": {"message": "the cassette holds no such request"}}
            return 400, "application/json", orjson.dumps(problem)
        found.is_used = True
        kind = "application/json" if found.answer.lstrip().startswith("{") else "text/event-stream"
        return found.status, kind, found.answer.encode()


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "recorded", "now", lineterm="", n=1
    )
    return "\n".join(list(lines)[:DIFF_LINES])

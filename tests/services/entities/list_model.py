"""The rules again, as plainly as they can be written: lists, loops and no cleverness."""

import json
from dataclasses import dataclass, field
from typing import Any

RANKS = ["inferred", "extracted", "user_stated"]


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@dataclass
class Row:
    key: str
    value: Any
    rank: int = 0
    tool: str = ""
    until: float | None = None
    depends_on: tuple[str, ...] = ()
    outdated: bool = False

    def gone(self, now: float) -> bool:
        return self.outdated or (self.until is not None and now >= self.until)


def at(rows: list[Row], key: str) -> Row | None:
    return next((row for row in rows if row.key == key), None)


@dataclass
class ListModel:
    """Wishes in a list, finds in a list for each agent, oldest first."""

    cap: int
    wishes: list[Row] = field(default_factory=list)
    finds: dict[str, list[Row]] = field(default_factory=dict)
    last: tuple[Any, float] | None = None

    def delta(
        self,
        agent: str,
        wishes: dict[str, Any],
        finds: dict[str, Any],
        remove: list[str],
        source: str,
        pinned: list[str],
        now: float,
    ) -> None:
        if self._repeats(json.dumps((agent, wishes, finds, remove, source, sorted(pinned))), now):
            return
        mine = self.finds.setdefault(agent, [])
        before = {row.key: row.value for row in self.wishes}
        self.wishes = [row for row in self.wishes if row.key not in remove]
        taken = {
            row.key
            for owner, rows in self.finds.items()
            for row in rows
            if not row.gone(now) and not (owner == agent and row.key in remove)
        }
        added = self._wish(wishes, taken, RANKS.index(source), pinned)
        after = {row.key: row.value for row in self.wishes}
        gone = [row for row in before if row not in after and row in remove]
        changed = [
            k for k in after if k in added or (k in before and not same(before[k], after[k]))
        ]
        for row in (row for rows in self.finds.values() for row in rows):
            row.outdated = row.outdated or any(key in row.depends_on for key in changed + gone)
        mine[:] = [row for row in mine if row.key not in remove]
        self._find(mine, finds, "", None, (), pinned, now)
        for rows in self.finds.values():
            rows[:] = [row for row in rows if row.key not in added]

    def tool(
        self,
        agent: str,
        finds: dict[str, Any],
        valid_for: float | None,
        depends_on: tuple[str, ...],
        pinned: list[str],
        now: float,
    ) -> None:
        self.last = None
        until = None if valid_for is None else now + valid_for
        self._find(self.finds.setdefault(agent, []), finds, "tool", until, depends_on, pinned, now)

    def view(self, agent: str, now: float) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        found = [(row.key, row.value) for row in self.finds.get(agent, []) if not row.gone(now)]
        return [(row.key, row.value) for row in self.wishes], found

    def _repeats(self, delta: str, now: float) -> bool:
        """Tell whether this is the last write again, and nothing has expired since."""
        last, self.last = self.last, (delta, now)
        if last is None or last[0] != delta:
            return False
        rows = [row for rows in self.finds.values() for row in rows]
        return all(row.gone(last[1]) == row.gone(now) for row in rows)

    def _wish(
        self, updates: dict[str, Any], taken: set[str], rank: int, pinned: list[str]
    ) -> list[str]:
        offers = {
            key: value
            for key, value in updates.items()
            if value is not None and not key.endswith("_id")
            if key.endswith("_preference") or key not in taken
        }
        for row in self.wishes:
            offered = row.key in offers
            if offered and rank < row.rank and not same(row.value, offers[row.key]):
                del offers[row.key]
        self._fit(self.wishes, offers, pinned, 0.0)
        added: list[str] = []
        for key, value in offers.items():
            held = at(self.wishes, key)
            if held is None:
                self.wishes.append(Row(key, value, rank))
                added.append(key)
            elif same(held.value, value):
                held.rank = max(held.rank, rank)
            else:
                held.value, held.rank = value, rank
        return added

    def _find(
        self,
        rows: list[Row],
        updates: dict[str, Any],
        tool: str,
        until: float | None,
        depends_on: tuple[str, ...],
        pinned: list[str],
        now: float,
    ) -> None:
        wished = {row.key for row in self.wishes}
        offers = {
            key: value
            for key, value in updates.items()
            if (tool or value is not None) and not key.endswith("_preference")
            if key.endswith("_id") or key not in wished
        }
        for row in rows:
            guarded = not tool and row.tool and not row.gone(now)
            if row.key in offers and guarded and not same(row.value, offers[row.key]):
                del offers[row.key]
        self._fit(rows, offers, pinned, now)
        for key, value in offers.items():
            held = at(rows, key)
            if held is None:
                rows.append(Row(key, value, 0, tool, until, depends_on))
            elif tool or held.gone(now) or not same(held.value, value):
                held.value, held.tool, held.until = value, tool, until
                held.depends_on, held.outdated = depends_on, False

    def _fit(self, rows: list[Row], offers: dict[str, Any], pinned: list[str], now: float) -> None:
        def held() -> set[str]:
            return {row.key for row in rows}

        # Drop offers, the first first, as long as nobody else could make room for them.
        while True:
            movable = [row for row in rows if row.key not in pinned and row.key not in offers]
            if len(held() | set(offers)) - len(movable) <= self.cap:
                break
            refusable = [key for key in offers if not (key in pinned and key in held())]
            if not refusable:
                break
            loose = [key for key in refusable if key not in pinned]
            del offers[(loose or refusable)[0]]
        while offers and len(held() | set(offers)) > self.cap:
            movable = [row for row in rows if row.key not in pinned and row.key not in offers]
            if not movable:
                break
            rows.remove(next((row for row in movable if row.gone(now)), movable[0]))

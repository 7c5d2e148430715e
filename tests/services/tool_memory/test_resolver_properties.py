"""Over generated stores and messages: never a wrong single answer (spec page 3, done when)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.amounts import amount
from tests.services.tool_memory.memory_world import ask, entity, event
from tests.tables import tables_beside

pytestmark = pytest.mark.slow

# Nonsense words that are far from each other, so that the truth is known by construction.
WORDS = ["zofira", "kuplem", "bandorit", "wexhall", "migrenta", "tolvusk", "yarrivop", "plinket"]
KINDS = {
    "calendar_event": ["meeting", "event", "appointment"],
    "email": ["email", "mail"],
    "document": ["document", "file"],
    "task": ["task"],
    "contact": ["contact"],
}
CASES = settings(
    max_examples=amount(by_day=100, by_night=1_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
STATUSES = ["active", "active", "active", "deleted", "expired"]


@st.composite
def stores(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(sorted(KINDS)),
                st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
                st.integers(0, 4),
                st.sampled_from(STATUSES),
                st.sampled_from(["patient_4", "patient_4", "patient_15"]),
                st.integers(0, 23),
            ),
            max_size=8,
        )
    )
    return [
        {
            **entity(
                f"x_{n}",
                kind,
                " ".join(words),
                turn,
                **({"start": f"2026-11-25T{hour:02}:00:00Z"} if kind == "calendar_event" else {}),
            ),
            "status": status,
            "session": session,
        }
        for n, (kind, words, turn, status, session, hour) in enumerate(rows)
    ]


def live(one: dict[str, Any]) -> bool:
    return bool(one["status"] == "active" and one["session"] == "patient_4")


def single(found: object) -> str | None:
    return found if isinstance(found, str) else None


@CASES
@given(stores(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True), st.data())
def test_a_single_answer_is_the_only_one_that_the_words_fit(
    store: list[dict[str, Any]], words: list[str], data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    noun = data.draw(st.sampled_from(KINDS[kind]))
    verb = data.draw(st.sampled_from(["cancel", "delete", "Please remove", "open"]))
    found = single(ask(f"{verb} the {' '.join(words)} {noun}", entities=store))
    full = [
        one["id"]
        for one in store
        if live(one) and one["type"] == kind and set(words) <= set(one["name"].split())
    ]
    half = [
        one["id"]
        for one in store
        if live(one)
        and one["type"] == kind
        and 2 * len(set(words) & set(one["name"].split())) >= len(words)
    ]
    assert found is None or [found] in (full, half)
    if len(full) == 1:
        assert found == full[0]
    if not half:
        assert found is None


@CASES
@given(
    stores(), st.integers(0, 8), st.sampled_from(["cancel it", "delete that", "remove this one"])
)
def test_a_pronoun_is_the_focus_or_the_last_mentioned(
    store: list[dict[str, Any]], number: int, message: str
) -> None:
    focus = f"x_{number}" if number < len(store) else None
    found = single(ask(message, focus=focus, entities=store))
    alive = {one["id"]: one for one in store if live(one)}
    if focus is not None:
        assert found == (focus if focus in alive else None)
        return
    newest = max((one["turn"] for one in alive.values()), default=0)
    recent = [key for key, one in alive.items() if one["turn"] == newest]
    assert found == (recent[0] if len(recent) == 1 else None)


@CASES
@given(stores(), st.integers(0, 7), st.integers(-1, 8))
def test_an_ordinal_is_that_place_of_the_list_or_nothing(
    store: list[dict[str, Any]], place: int, focus: int
) -> None:
    shown = [one["id"] for one in store]
    word = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "8th"][place]
    found = ask(f"cancel the {word} one", shown=shown, focus=f"x_{focus}", entities=store)
    expected = store[place]["id"] if place < len(store) and live(store[place]) else None
    assert found == expected


@CASES
@given(stores(), st.sampled_from(["all", "both", "every"]), st.sampled_from(sorted(KINDS)))
def test_a_plural_or_negated_request_yields_no_single_one(
    store: list[dict[str, Any]], every: str, kind: str
) -> None:
    noun = KINDS[kind][0]
    given_id = {"event_id": store[0]["id"]} if store else {}
    assert single(ask(f"cancel {every} {noun}s", entities=store, given=given_id)) is None
    assert ask(f"do not cancel the {noun}", entities=store, given=given_id) is None


MESSAGES: list[str] = tables_beside(Path(__file__))["messages"]


@CASES
@given(stores(), st.sampled_from(MESSAGES), st.sampled_from(WORDS), st.integers(0, 9), st.data())
def test_an_unrelated_entity_changes_an_answer_only_to_ambiguous(
    store: list[dict[str, Any]], message: str, word: str, focus: int, data: st.DataObject
) -> None:
    shown = [one["id"] for one in store]
    scene: dict[str, Any] = {"shown": shown, "focus": f"x_{focus}" if focus < 8 else None}
    text = message.format(w=word, h=10 + focus)
    before = ask(text, entities=store, **scene)
    other = data.draw(
        st.sampled_from(
            [
                entity("new_1", "location", "Gymnasium", 0),
                entity("new_1", "generic", "don't cancel it", 0),
                event("new_1", "Obstreperous quux", "2020-01-01T00:00:00Z", 0),
                {**event("new_1", word, "2026-11-25T10:00:00Z", 9), "status": "deleted"},
                {**event("new_1", word, "2026-11-25T10:00:00Z", 9), "session": "patient_15"},
            ]
        )
    )
    after = ask(text, entities=[*store, other], **scene)
    assert after == before or isinstance(after, list) or (before is None and after == "new_1")

"""Only `services/language` is to read prose; what others still read may only become less."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
_COMPILED = re.compile(r"\bre\.compile\(")
# Files that still compile patterns over users' or models' words, and how many they may have.
# Patterns over ids, secrets, protocols, expressions and marks of our own are no prose.
LEFT = {
    "data_models/entity_values.py": 3,
    "services/patient_context/misspelt.py": 3,
    "services/safety/rules.py": 4,
    "services/scenarios/session/answers.py": 5,
    "services/tool_memory/privacy.py": 6,
    "services/turn/forgetting.py": 1,
    "services/turn/migration.py": 1,
}
# What the rules read of the server's own prompts, and of ids.
PROTOCOLS = {
    "group_chat/offline/complaint.py",
    "group_chat/offline/offline_structured.py",
    "group_chat/offline/prompt.py",
}


def test_patterns_over_prose_become_fewer() -> None:
    found = {
        name: len(_COMPILED.findall(path.read_text()))
        for name in LEFT
        if (path := ROOT / name).exists()
    }
    assert {name: count for name, count in found.items() if count > LEFT[name]} == {}


def test_no_other_file_of_the_offline_rules_reads_prose() -> None:
    folder = ROOT / "group_chat" / "offline"
    reading = {
        path.relative_to(ROOT).as_posix()
        for path in folder.glob("*.py")
        if _COMPILED.search(path.read_text())
    }
    assert reading - PROTOCOLS == set()

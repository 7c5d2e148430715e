"""What is usually asked about a complaint."""

from collections.abc import Mapping

ASPECTS: Mapping[str, str] = {
    "severity": "How severe it is (0-10)",
    "duration": "How long it has lasted",
    "onset": "When and how it began",
    "associated": "Associated symptoms",
    "triggers": "Possible triggers",
    "medication": "Current medication",
    "history": "Earlier episodes and medical history",
}
"""In this order."""

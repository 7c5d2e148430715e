"""The wordings that the rule-based reading of a message knows."""

import re
from collections.abc import Mapping

SUBJECTS = re.compile(
    r"\b(headache|migraine|pain|cough|fever|nausea|vomiting|dizziness|fatigue|tiredness|rash|itch"
    r"|sore throat|cold|flu|insomnia|sleep|anxiety|panic|depression|mood|stress|worry|grief|breath"
    r"|shortness of breath|palpitation|swelling|bleeding|cramp|diarrh(?:o)?ea|constipation|weight"
    r"|appetite|allergy|injury|burn|infection"
    r"|biopsy|ct|mri|pet|x-ray|scan|imaging|ultrasound|staging|stage|tumou?r|lesion|metastas[ei]s"
    r"|biomarker|mutation|pathology|histology|ecog|chemotherapy|radiotherapy|radiation|surgery"
    r"|treatment|therapy|medication|dose|trial|lab|report|timeline|history|appointment|referral"
    r"|insurance|tumor board)(?:s|es)?\b",
    re.IGNORECASE,
)
"""Nouns that a follow-up may be about."""

FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i am|my|me|myself)\b", re.IGNORECASE)
ABOUT_SELF = re.compile(
    r"\b(?:my|me|i(?:'m|'ve| am| have| had| feel| felt| get| got| can't| cannot| can not| keep"
    r"| suffer| wake| cry| need to (?:cough|vomit)))\b",
    re.IGNORECASE,
)
ABOUT_OTHERS = re.compile(
    r"\b(?:patients?|he|she|his|hers?|him|records?|notes?|reports?|charts?|cases?|team|board)\b",
    re.IGNORECASE,
)
"""Words of people who work in a clinic: what they ask is not about themselves."""
SCALE = re.compile(
    r"\b(?:0|1|zero|one)\s*(?:-|\u2013|to|through|and)\s*(?:10|ten)\b|out\s+of\s+(?:10|ten)\b|\bscale\b",
    re.IGNORECASE,
)
RATING = re.compile(
    r"\W*(?:(?:about|around|maybe|roughly|it'?s|an?|i'?d say|like|probably)\W+)*"
    r"(10|[0-9]|zero|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?:\s*(?:/|of|out of)\s*(?:10|ten))?\W*",
    re.IGNORECASE,
)
NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten".split()  # noqa: SIM905
    )
}
HOW_LONG = re.compile(r"\bhow long\b|\bduration\b|\blasted\b", re.IGNORECASE)
WHEN = re.compile(
    r"\bwhen\b[^?]*\b(?:start|begin|began|notice|first)|\bsince when\b|\bonset\b", re.IGNORECASE
)
TIME_WORDS = re.compile(
    r"\b(?:\d+|a|an|few|couple of|one|two|three|four|five|six|seven|several|half an)\s+"
    r"(?:minute|min|hour|hr|day|week|month|year)s?\b|\bsince\b|\bago\b|\byesterday\b|\btoday\b"
    r"|\b(?:this|last)\s+(?:morning|night|evening|week|month|year|weekend|mon|tue|wed|thu|fri|sat|sun)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)
REFERS = re.compile(
    r"^\W*(?:and|but|also|what about|how about|why|it|that|this|these|those|they|them|he|she|his"
    r"|her|the (?:same|other|first|second|last|previous)(?: one)?|same|both|neither|which)\b",
    re.IGNORECASE,
)
ASPECTS: Mapping[str, str] = {
    "severity": "How severe it is (0-10)",
    "duration": "How long it has lasted",
    "onset": "When and how it began",
    "associated": "Associated symptoms",
    "triggers": "Possible triggers",
    "medication": "Current medication",
    "history": "Earlier episodes and medical history",
}
"""What is usually asked about a complaint, in this order."""

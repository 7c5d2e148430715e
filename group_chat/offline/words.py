"""Which words of a request point to which work."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from services.language.in_english import in_english
from services.language.people_words import common_words
from services.language.phrases import says, words_for
from services.language.text_words import joins_questions, spaced, telling_words

_SPELT_CHARS, _NEARNESS = 4, 0.75

_TOPICS = (
    "imaging", "pathology", "status", "medication", "history", "appointment", "registration",
    "office", "health", "evidence", "document",
)  # fmt: skip
_SPELLINGS = (
    ("tumor", "tumour"),
    ("edema", "oedema"),
    ("esoph", "oesoph"),
    ("anem", "anaem"),
    ("hemo", "haemo"),
    ("hemat", "haemat"),
    ("diarrhea", "diarrhoea"),
    ("leuko", "leuco"),
    ("color", "colour"),
    ("pediatric", "paediatric"),
    ("gynec", "gynaec"),
    ("ischem", "ischaem"),
    ("fiber", "fibre"),
)
_SHORT_FOR = {
    "mets": "metastasis metastases",
    "labs": "laboratory",
    "lab": "laboratory",
    "bloods": "laboratory",
    "hb": "haemoglobin hemoglobin",
    "hgb": "haemoglobin hemoglobin",
    "crea": "creatinine",
    "plt": "platelets",
    "wbc": "leukocytes leucocytes",
    "bp": "pressure",
}
_OFFICE = frozenset({"appointment", "registration", "office"})
_NOT_IN_PLANS = _OFFICE | {"health", "evidence"}


def is_clinical(name: str, description: str) -> bool:
    """Tell whether an agent works on the patient's record: neither office, complaint nor paper."""
    return not _topics_of_agent(name, description) & _NOT_IN_PLANS


def works_on(topic: str, name: str) -> bool:
    """Whether an agent's name says that it works on `topic`."""
    return topic in _topics_of_agent(name, "")


def words_of(text: str) -> frozenset[str]:
    """Return the telling words of `text`, in lower case."""
    return frozenset(word.casefold() for word in telling_words(text))


def topics_of(text: str) -> frozenset[str]:
    """Return the topics that a request is about."""
    topics = topics_named_in(text)
    return topics if says(text, "document_asked") else topics - {"document"}


def topics_named_in(text: str) -> frozenset[str]:
    """Return the topics that `text` has a word of, such as an agent's description."""
    return frozenset(topic for topic in _TOPICS if says(text, f"topic_{topic}"))


def known_word_like(word: str) -> str | None:
    """Return the word of a topic that `word` may be misspelt from; None if it is one, or far."""
    known = sorted(one for topic in _TOPICS for one in words_for(f"topic_{topic}"))
    folded = word.casefold()
    is_short = folded in _SHORT_FOR or len(word) < _SPELT_CHARS
    if folded in known or is_short or folded in common_words():
        return None
    near = get_close_matches(folded, known, n=1, cutoff=_NEARNESS)
    return next(
        (
            one
            for one in near
            if not one.startswith(folded) and folded not in words_for("idle_in_search")
        ),
        None,
    )


def others_wanted(request: str, chosen: str, team: Mapping[str, str]) -> list[str]:
    """Return who else works on what `request` is about, where it joins several questions."""
    if not joins_questions(request):
        return []
    rest = topics_of(request) - _topics_of_agent(chosen, team[chosen])
    clinical = {name: text for name, text in team.items() if is_clinical(name, text)}
    found = [
        best_match(" ".join(sorted(words_for(f"topic_{topic}"))), clinical)
        for topic in sorted(rest)
    ]
    return list(dict.fromkeys(name for name in found if name is not None and name != chosen))


def best_match(request: str, candidates: Mapping[str, str]) -> str | None:
    """Return the name whose description fits `request` best, the first of equals, or None."""
    scores = {name: _score(request, name, description) for name, description in candidates.items()}
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] > 0 else None


def _score(request: str, name: str, description: str) -> float:
    """Weigh topics over words, and an agent for one topic over one for many."""
    topics, about = _topics_of_agent(name, description), topics_of(request)
    named = name.casefold() in request.casefold()
    if "document" in topics - about and not named:
        return 0.0  # "how big is the tumor?" asks for no tumor board document
    if not named and not topics & about and topics & _NOT_IN_PLANS:
        return 0.0  # a word in common is no reason to ask who books, or who hears complaints
    shared = len(topics & about) / max(1, len(topics))
    words = len(words_of(in_english(request)) & words_of(f"{name} {description}"))
    return 6 * shared + 2 * named + words


def query_of(text: str, *, besides: Collection[str] = ()) -> str:
    """Return the telling words of `text`, at most twelve and perhaps none, to search for.

    Args:
        besides: Words that tell nothing here, such as the ids of the conversation's patients.
    """
    telling = words_of(text) - {word.casefold() for word in besides}
    found = [word for word in telling_words(text) if word.casefold() in telling]
    return " ".join(dict.fromkeys(found[:12]))[:400]


def spelt_otherwise(query: str) -> str:
    """Return `query` with the other spelling of each word that has one."""
    words = query.split()
    others = [other for word in words if (other := _other_spelling(word.casefold()))]
    return " ".join(dict.fromkeys([*words, *others]))


def _other_spelling(word: str) -> str | None:
    if word in _SHORT_FOR:
        return _SHORT_FOR[word]
    for american, british in _SPELLINGS:
        if british in word:
            return word.replace(british, american)
        if american in word:
            return word.replace(american, british)
    return None


def _topics_of_agent(name: str, description: str) -> frozenset[str]:
    return topics_named_in(f"{spaced(name)} {description}")


def asks_overview(text: str) -> bool:
    """Whether `text` asks who the patient is, or for everything on record."""
    return says(text, "overview") or (says(text, "record") and not says(text, "on_record"))


def wants_plan(text: str) -> bool:
    """Whether `text` asks for what takes several agents; not what a board did, or none wanted."""
    return says(text, "plan") and not says(text, "speaks_of_plan")

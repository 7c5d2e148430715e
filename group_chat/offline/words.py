"""Which words of a request point to which work."""

from collections.abc import Collection, Mapping

from services.language.in_english import in_english
from services.language.phrases import says
from services.language.text_words import spaced, telling_words

_QUERY_WORDS = 12
_TOPICS = (
    "imaging", "pathology", "status", "medication", "history", "appointment", "registration",
    "office", "health", "evidence", "document",
)  # fmt: skip
_NOT_IN_PLANS = frozenset({"appointment", "registration", "office", "health", "evidence"})


def is_clinical(name: str, description: str) -> bool:
    """Tell whether an agent works on the patient's record: neither office, complaint nor paper."""
    return not topics_of_agent(name, description) & _NOT_IN_PLANS


def topics_of(text: str) -> frozenset[str]:
    """Return the topics that a request is about."""
    topics = _topics_named_in(text)
    return topics if says(text, "document_asked") else topics - {"document"}


def topics_of_agent(name: str, description: str = "") -> frozenset[str]:
    """Return the topics that an agent's name and description say that it works on."""
    return _topics_named_in(f"{spaced(name)} {description}")


def _topics_named_in(text: str) -> frozenset[str]:
    return frozenset(topic for topic in _TOPICS if says(text, f"topic_{topic}"))


def best_match(request: str, candidates: Mapping[str, str]) -> str | None:
    """Return the name whose description fits `request` best, the first of equals, or None."""
    scores = {name: _score(request, name, description) for name, description in candidates.items()}
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] > 0 else None


def _score(request: str, name: str, description: str) -> float:
    """Weigh topics over words, and an agent for one topic over one for many."""
    topics, about = topics_of_agent(name, description), topics_of(request)
    named = name.casefold() in request.casefold()
    if "document" in topics - about and not named:
        return 0.0  # "how big is the tumor?" asks for no tumor board document
    if not named and not topics & about and topics & _NOT_IN_PLANS:
        return 0.0  # a word in common is no reason to ask who books, or who hears complaints
    shared = len(topics & about) / max(1, len(topics))
    words = len(_words_of(in_english(request)) & _words_of(f"{name} {description}"))
    return 6 * shared + 2 * named + words


def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in telling_words(text))


def query_of(text: str, *, besides: Collection[str] = ()) -> str:
    """Return the telling words of `text`, at most twelve and perhaps none, to search for.

    Args:
        besides: Words that tell nothing here, such as the ids of the conversation's patients.
    """
    silent = {word.casefold() for word in besides}
    found = [word for word in telling_words(text) if word.casefold() not in silent]
    return " ".join(dict.fromkeys(found[:_QUERY_WORDS]))[:400]


def asks_overview(text: str) -> bool:
    """Whether `text` asks who the patient is, or for everything on record."""
    return says(text, "overview") or (says(text, "record") and not says(text, "on_record"))


def wants_plan(text: str) -> bool:
    """Whether `text` asks for what takes several agents; not what a board did, or none wanted."""
    return says(text, "plan") and not says(text, "speaks_of_plan")

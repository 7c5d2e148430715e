"""Which words of a request point to which work."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

_SPELT_CHARS, _NEARNESS = 4, 0.75
_WORD = re.compile(r"[^\W\d_][\w-]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP = _set(
    "the and for with what which when who was were are has have had this that these those from "
    "into patient patients please show tell give about does did can could would should there any "
    "all you your her his their its our how many much been being than then more most some may "
    "will agent answers answer question questions report reports current last latest recent show "
    "shows said say says find found see look review is of to in on at an as it we he do be or if "
    "my no so up us by me go am hi she him they them ok not but let give given get got next why "
    "because should since come yes list over time where whose here help plan mean means "
    "explain record records start begin"
)
_TOPICS: Mapping[str, frozenset[str]] = {
    "imaging": _set(
        "ct mri pet scan scans imaging radiology radiologic xray x-ray ultrasound mammography "
        "mammogram image images lesion nodule"
    ),
    "pathology": _set(
        "pathology biopsy histology histologic histopathology specimen margins grade tissue "
        "cytology molecular sequencing mutation mutations egfr alk ros1 kras braf her2 pd-l1 brca "
        "biomarker biomarkers marker markers ngs cea psa afp ca-125 ca125 ca19-9 t790m msi"
    ),
    "status": _set(
        "status stage staging tnm ecog performance age sex gender allergy allergies diagnosis "
        "site treatment treatments therapy medication medications meds old alive "
        "dead died death deceased"
    ),
    "history": _set(
        "history timeline course chronology notes note when happened first earlier previous "
        "symptoms surgery chemotherapy radiotherapy smoking family lab labs laboratory bloods"
    ),
    "appointment": _set(
        "appointment appointments book booking doctor doctors dr reschedule slot slots times"
    ),
    "registration": _set("register registration insurance insured eligibility coverage eligible"),
    "office": _set("calendar meeting meetings mail email inbox contacts tasks"),
    "health": _set("health wellbeing mood anxious anxiety stressed depressed lonely headache"),
    "document": _set("word document docx write file download"),
}
_DOCUMENT_ASKED = re.compile(
    r"(?i)\bword[- ](?:documents?|docs?|files?|reports?|version|format)\b|\bdocx\b"
    r"|\b(?:in|as|to|into) (?:an? |ms )?word\b(?=\W*\Z| (?:please|format))"
    r"|\b(?:write|make|create|prepare|generate|produce|download|draft|need|want)\b[^.?!\n]{0,40}"
    r"\b(?:reports?|documents?|files?)\b"
    r"|\A\W*(?:the )?(?:word|document|report)(?: please)?\W*\Z"
)
"""What asks for a document; the word "word" alone is a word like any other."""
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
_NOT_IN_PLANS = _OFFICE | {"health"}
PLAN = re.compile(
    r"(?i)tumou?r[\s-]*board|\bmdt\b|\bwork[\s-]?up\b|\b(?:full|complete|whole) review\b"
    r"|\breview (?:all|everything|the (?:case|chart|record))\b|\b(?:make|propose|start|new|change) "
    r"(?:a |the )?plan\b|\bplan (?:for|the)\b"
    r"|\A\W*(?:please\W+)?review (?:the |this )?patient(?:[_ #-]?\d+)?\W*\Z"
)
ROSTER = re.compile(
    r"(?i)\b(?:which|what|how many|list|show)\b[^.?!\n]{0,40}\bpatients\b|\broster\b"
    r"|\bpatients (?:have|did|were|are)\b|\bwho(?:se)? (?:is|chart|patient)[^.?!\n]{0,20}\bactive\b"
)
OVERVIEW = re.compile(
    r"(?i)\b(?:load|open|overview|summari[sz]e|summary|who is|documents?|chart|everything"
    r"|(?<!\bon )(?<!\bon the )(?<!\bin the )records?(?! (?:say|show|hold|mention)))\b"
    r"|\b(?:birthday|born|date of birth|dob)\b|\bname of (?:this|the|my) patient\b"
    r"|\b(?:her|his|their|(?:the )?patient['’]s) name\b"
)
QUESTION = re.compile(
    r"(?i)\?\s*\Z|\A\W*(?:does|did|is|are|was|were|has|have|had|what|which|who|when|where"
    r"|why|how|any)\b"
)
_JOINS = re.compile(r"(?i)\?.*\?|\b(?:and|also|plus|as well as)\b|[;&+,]")
LEFT_OUT = re.compile(r"(?i)\b(?:without|skip|leave out|drop|remove|no|not|except)\b[^.;\n]{0,60}")

CHANGE = re.compile(
    r"(?i)\b(?:without|skip|leave|drop|remove|only|just|add|also|include|instead)\b"
)


def is_clinical(name: str, description: str) -> bool:
    """Tell whether an agent works on the patient's record, not in the office or on complaints."""
    return not _topics_of_agent(name, description) & _NOT_IN_PLANS


def works_on(topic: str, name: str) -> bool:
    """Whether an agent's name says that it works on `topic`."""
    return topic in _topics_of_agent(name, "")


def words_of(text: str) -> frozenset[str]:
    """Return the telling words of `text`, in lower case."""
    return frozenset(word.casefold() for word in _WORD.findall(text)) - _STOP


def topics_of(text: str) -> frozenset[str]:
    """Return the topics that a request is about."""
    topics = topics_named_in(text)
    return topics if _DOCUMENT_ASKED.search(text) else topics - {"document"}


def topics_named_in(text: str) -> frozenset[str]:
    """Return the topics that `text` has a word of, such as an agent's description."""
    words = {word.casefold() for word in re.findall(r"[\w-]+", text)}
    return frozenset(topic for topic, known in _TOPICS.items() if words & known)


def known_word_like(word: str) -> str | None:
    """Return the word of a topic that `word` may be misspelt from; None if it is one, or far."""
    known = sorted(frozenset().union(*_TOPICS.values()))
    folded = word.casefold()
    if folded in known or folded in _SHORT_FOR or len(word) < _SPELT_CHARS:
        return None
    near = get_close_matches(folded, known, n=1, cutoff=_NEARNESS)
    return next((one for one in near if not one.startswith(folded) and folded not in _STOP), None)


def others_wanted(request: str, chosen: str, team: Mapping[str, str]) -> list[str]:
    """Return who else works on what `request` is about, where it joins several questions."""
    if _JOINS.search(request) is None:
        return []
    rest = topics_of(request) - _topics_of_agent(chosen, team[chosen])
    clinical = {name: text for name, text in team.items() if is_clinical(name, text)}
    found = [best_match(" ".join(sorted(_TOPICS[topic])), clinical) for topic in sorted(rest)]
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
    words = len(words_of(request) & words_of(f"{name} {description}"))
    return 6 * shared + 2 * named + words


def query_of(text: str, *, besides: Collection[str] = ()) -> str:
    """Return the telling words of `text`, at most twelve and perhaps none, to search for.

    Args:
        besides: Words that tell nothing here, such as the ids of the conversation's patients.
    """
    telling = words_of(text) - {word.casefold() for word in besides}
    found = [word for word in _WORD.findall(text) if word.casefold() in telling]
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
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return topics_named_in(f"{split} {description}")

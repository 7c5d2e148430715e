"""What is said where nothing holds the whole of a name, or nobody knows the name. Pure."""

from services.language.answer_words import AnswerWords
from services.language.chart_words import lexicon, tokens_of
from services.language.folding import fold
from services.language.utterance import ChartQuestion
from services.records.concepts.table import concept_table

_SHORT_FORM_CHARS = 5
_BY_NAME = frozenset({"problems", "procedures"})


def name_unknown(question: ChartQuestion, words: AnswerWords) -> list[str]:
    """Say that a name is not known here: what it stands for may be in the record in other words."""
    name = question.name
    if not name or concept_table().also_called(name):
        return []
    if name.isalpha() and len(name) <= _SHORT_FORM_CHARS and not words.knows(name):
        return [words.unknown.format(name=name)]
    return [words.only_so] if question.tool in _BY_NAME else []


def said_unread(question: ChartQuestion, answer: str, words: AnswerWords) -> str:
    """Return `answer` behind the words of the question that it leaves out."""
    if not question.unread:
        return answer
    return f"{words.unread.format(words=question.unread)}\n{answer}"


def said_without(question: ChartQuestion, words: AnswerWords) -> str:
    """Say which words of a longer name nothing says of the thing itself."""
    head = tokens_of(fold(question.head)[0])
    is_drug = question.tool == "medications"
    rest = [
        word
        for word in question.name.split()
        if fold(word)[0] not in {*head, *lexicon(words.language).joints}
        and not (is_drug and concept_table().named("drug", word))
    ]
    return words.unsaid.format(words=" ".join(rest)) if rest else ""

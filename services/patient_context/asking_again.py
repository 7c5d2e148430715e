"""What is said where a message does not answer whom it is about, and what waits for that. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from data_models.conversations.conversation import QUESTION_MINUTES, OpenQuestion
from data_models.identifiers import PatientId
from services.identity.names.covers import name_words
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person
from services.identity.wording import SAY_WHICH
from services.language.people.mentions import read_words
from services.language.requests.work import REQUEST_LIMIT_CHARS
from services.language.several_requests import begun_before, pieces_of
from services.language.words.folding import words_of
from services.language.words.people_words import common_words
from services.language.words.phrases import says, without
from services.language.words.text_words import quoted_in
from services.patient_context import answers
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.reading.candidates import digits_of
from services.patient_context.verdict import PatientVerdict

_QUOTED_CHARS = 120
_WAITING_LIMIT = 2


def with_what_waits(question: OpenQuestion, said: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return `said` behind what waits for the answer already, and what of that is dropped.

    What would make it too long is dropped.
    """
    before = answers.waiting_in(question)
    is_too_long = len("\n".join((*before, said))) > REQUEST_LIMIT_CHARS
    return ([said], before) if is_too_long else ([*before, said], ())


def fitting_for(
    sex: str | None, question: OpenQuestion, people: Mapping[PatientId, Person | None]
) -> list[PatientId]:
    """Return who, as far as they are known, may be spoken of as one of `sex`.

    Of those offered the one who fits, where the name that was asked about is theirs alone.
    """
    fitting = [one for one, person in people.items() if answers.is_of_sex(person, sex)]
    offered = [one for one in answers.options_of(question) if one in fitting]
    is_theirs = len(offered) == 1 and is_named_alone(offered[0], question, people)
    return offered if is_theirs else fitting


def is_named_alone(
    meant: PatientId, question: OpenQuestion, people: Mapping[PatientId, Person | None]
) -> bool:
    """Whether the words that were asked about are of the name of `meant`, and of nobody else."""
    said = set(words_of(str(question.payload.get(answers.SAID, ""))))
    bearers = [
        one
        for one, person in people.items()
        if person is None or any(said & set(words_of(name.label)) for name in person.names)
    ]
    return bool(said) and bearers == [meant]


def is_nameless(question: OpenQuestion) -> bool:
    """Whether neither a name nor a number was asked about, so that it may be somebody unlisted."""
    is_by_id = question.kind == "which_patient" and bool(answers.options_of(question))
    return not is_by_id and not any(
        question.payload.get(key) for key in (answers.SAID, answers.NUMBER, answers.NAMES_THEM)
    )


def is_left(question: OpenQuestion, own: Person | None) -> bool:
    """Whether who wrote on twice has left a question that offers the open patient, `own`, alone.

    Not where a name, a number or "she" in the record of a man speaks for somebody else.
    """
    if own is None or answers.options_of(question) != [own.patient_id] or not is_nameless(question):
        return False
    waiting = answers.waiting_in(question)
    fits = all(answers.is_of_sex(own, read_words(one).told_sex) for one in waiting)
    return fits and len(waiting) > _WAITING_LIMIT


def settles(text: str, question: OpenQuestion, verdict: PatientVerdict) -> str:
    """Return the words that mean from now on who is chosen by `text`; none where they do not."""
    said = str(question.payload.get(answers.SAID, ""))
    is_slip = says(text, "was_wrong_name") and not answers.is_name_of(said, verdict.person)
    return "" if is_slip or names_another(question, verdict) else said


def names_another(question: OpenQuestion, verdict: PatientVerdict) -> bool:
    """Whether the words that were asked about name another one of those offered than is opened.

    A word of common language, "Long", may be no name, and the title of what is added names a thing.
    """
    said, people = set(words_of(str(question.payload.get(answers.SAID, "")))), verdict.people
    titles = {word for one in answers.waiting_in(question) for word in _title_words(one)}
    if people is None or not said or said <= common_words() or said <= titles:
        return False
    found = [people.with_id(one) for one in answers.options_of(question)]
    bearers = [
        one.patient_id
        for one in found
        if one is not None
        and any(
            said <= {f"{word}{end}" for word in words_of(name.label) for end in ("", "s")}
            for name in one.names
        )
    ]
    return bool(bearers) and verdict.patient_id not in bearers


def apart_from_others(
    asked: str, options: Sequence[PatientId], verdict: PatientVerdict
) -> tuple[str, str]:
    """Return what of a message is of the one who was chosen, and what of others offered.

    Of "Doyle's PSA, and then Grant's ECOG and stage" the last two are of Grant.
    """
    index = verdict.people or PersonIndex(people=())
    found = filter(None, map(index.with_id, options))
    names = () if verdict.person is None else name_words(verdict.person)
    own = {digits_of(verdict.patient_id or ""), *names}
    others = {word for one in found for word in (*name_words(one), digits_of(one.patient_id or ""))}
    others -= own | _title_words(asked)
    pieces, parts = pieces_of(asked), ["", ""]
    at = next((at for at, one in enumerate(pieces) if answers.are_near(words_of(one), own)), 0)
    # Of "bp? and note for Doyle: npo" the first is of the one who was open.
    is_other = verdict.decision != "UNCHANGED" and begun_before(asked, len("".join(pieces[:at])))
    for piece in pieces:
        is_other |= answers.are_near(words_of(piece), others)
        is_other &= not answers.are_near(words_of(piece), own)
        parts[is_other] += piece
    kept = without(parts[0], "ends_joined").strip(" ,;&") if parts[1] else asked
    return kept, parts[1].strip(" ,;&")


def _title_words(asked: str) -> set[str]:
    """Return the words of what is to be added by its title: create "Call Mrs Whitfield"."""
    titles = quoted_in(asked) if says(asked, "add") else ()
    return {word for title in titles for word in words_of(title)}


def still_asking(
    verdict: PatientVerdict, question: OpenQuestion, turn: PatientTurn
) -> PatientVerdict:
    """Return the verdict of a message answered beside `question`, which is asked once more.

    Who goes on a second time without an answer has left it: it would take the next yes for its own.
    """
    if (
        verdict.reply is not None
        or verdict.question is not None
        or answers.PASSED_BY in question.payload
    ):
        return verdict
    passed = question.noting({answers.PASSED_BY: True})
    return replace(verdict, question=asked_again(passed, turn).question)


def among(question: OpenQuestion, meant: Sequence[PatientId]) -> OpenQuestion:
    """Return the question with those of its lines that are of `meant`, counted anew."""
    options, (head, first, rest) = answers.options_of(question), question.text.partition("\n1. ")
    rows = f"{first}{rest}".strip().split("\n")
    if len(rows) != len(options):
        return question
    kept = [(one, row) for one, row in zip(options, rows, strict=True) if one in meant]
    told = [f"{place}. {row.partition('. ')[2]}" for place, (_, row) in enumerate(kept, start=1)]
    payload = {**question.payload, answers.OPTIONS: [one for one, _ in kept]}
    return question.model_copy(update={"text": "\n".join([head, *told]), "payload": payload})


def asked_again(
    question: OpenQuestion, turn: PatientTurn, *, only: Sequence[PatientId] = ()
) -> PatientVerdict:
    """Return the verdict that asks the same once more; what waits for the answer waits on.

    Args:
        only: Those alone whom an answer named.
    """
    question = among(question, only) if only else question
    expires_at = turn.now + timedelta(minutes=QUESTION_MINUTES)
    again = question.model_copy(update={"run_id": turn.run_id, "expires_at": expires_at})
    text = f"{SAY_WHICH}\n{question.text}" if question.kind == "subject" else question.text
    return turn.saying(text, again)


def asked_for_next(question: OpenQuestion, turn: PatientTurn) -> PatientVerdict:
    """Return the verdict that asks for a message which names nobody while it is open who is meant.

    It waits for the answer with what waits already: whoever writes on after "back to
    Adeyemi" thinks that chart is open, and "write the report" would be the other one's. A number,
    a name or a no ends it. What is too long to wait beside it is named, and answered no more.
    """
    said = turn.reading.text
    waiting, dropped = with_what_waits(question, said)
    verdict = asked_again(answers.with_waiting(question, waiting), turn)
    waits = f"“{_short(said)}” now waits for your answer"
    waits += f", in place of “{shown_waiting(dropped)}”" if dropped else ""
    return replace(verdict, reply=f"{question.text}\n\n{waits}; “no” drops it.")


def shown_waiting(waiting: Sequence[str]) -> str:
    """Return all that waits, each message between quotation marks of its own but the outer ones."""
    return "”, “".join(_short(" ".join(one.split())) for one in waiting)


def _short(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]} …"


def not_answered(asked: Sequence[str], *, unlike: Person | None = None) -> str:
    """Return what is said of messages that waited in vain; of those that tell somebody else, why.

    Args:
        unlike: Who was chosen, where all of them tell somebody else.
    """
    if unlike is not None:
        told = f"its age, birth date or pronoun is not that of {unlike.name}; say it again without"
        return f"“{shown_waiting(asked)}” was not answered: {told} that if it is still wanted."
    if len(asked) > 1:
        return f"“{shown_waiting(asked)}” were not answered; say again what is still wanted."
    return f"“{shown_waiting(asked)}” was not answered; say it again if it is still wanted."

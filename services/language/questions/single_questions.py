"""Questions for one thing by its name, for what has a code, and for all that changed. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from services.language.charts.chart_parts import EDGES, RANKED, QuestionPart
from services.language.charts.chart_pieces import Piece, begins
from services.language.charts.chart_words import Lexicon
from services.language.charts.named_runs import HEIGHT
from services.language.charts.names_of_topics import why_last_seen
from services.language.charts.tools_named import HABITS, OF_ALL, OVER, SEARCH
from services.language.questions.events_named import Ask
from services.language.questions.value_questions import values_of
from services.language.utterance import Aspect, ChartQuestion, Part
from services.language.words.folding import fold, words_of
from services.language.words.people_words import of_people
from services.language.words.phrases import parts_in, says
from services.language.words.statement_tables import saying
from services.language.words.vocabulary import concept_rows

_DONE_AGAIN = frozenset({"immunizations", "procedures"})
NAMED_BY_ARGUMENT = _DONE_AGAIN | {"medications"}
_OF_ANY_TEST = frozenset({"measured", "tested", "showed"})
_FINDINGS = saying("imaged_findings")
_LONG_FINDINGS = tuple(one for one in _FINDINGS if len(one) > 3)  # "Lungenherd" ends in one
_METASTASIS = "metastasis"
GROWTH: Mapping[str, str] = {"query": "progression progressive recurrence relapse Progress Rezidiv"}
_OF_ONES_OWN = NAMED_BY_ARGUMENT | {"problems", "results", "allergies", "current_status"}
_TOLD_OF_KIN = ("history", "chart_summary")
_SEVERAL_KIN = frozenset({"parents", "child", "partner"})
_OF_A_PERSON = frozenset(
    {"age", "birth date", "name", "sex", "address", "phone", "marital status", "identifiers"}
    | {"vital status", "language", "birth place", "religion", "sex at birth"}
)


def of_one_thing(part: QuestionPart) -> ChartQuestion | None:
    """Return what is asked of one thing in words of its own: how large, how tolerated, how it is.

    "Polyp size" is no height, and that a drug was given is no yes to "did she tolerate it?".
    """
    name = part.runs[0].text if part.runs else ""
    is_ranked = _is_finding(part) and bool(part.aspects & RANKED or "compared" in part.frames)
    if ("size" in part.frames or _grown(part) or is_ranked) and not part.topics:
        if not name and not any(piece.of("people") for piece in part.pieces):
            return None  # "how big is it", "how deep": of what was named before
        return _of_size(part) if name else values_of([HEIGHT], "all", None)
    is_drug = any(one.tool == "medications" for run in part.runs for one in run.known)
    if "tolerated" in part.frames and name and not is_drug:
        called = part.runs[0].name_for(SEARCH)
        return replace(named(SEARCH, f"{called} tolerated", "all", None), said=called)
    if part.topics:
        return None
    frames = part.frames - ({"past"} if part.is_asked_anew else set())  # "what was measured?"
    is_plain = bool(frames) and frames <= _OF_ANY_TEST and not part.runs
    if is_plain and "measured" in frames and not (part.aspects or part.parts):
        return ChartQuestion("results", {}, "latest")
    if "state" in part.frames and not any(run.known for run in part.runs):
        return ChartQuestion("chart_summary")  # "how is Ada doing?"
    return None


def _grown(part: QuestionPart) -> str:
    """Return what else than the patient has grown, or a size: "Größe Primarius"."""
    said = " ".join(f"{one.name} {run.text}" for run in part.runs[:1] for one in run.known)
    things = _FINDINGS | of_people("organs")
    grown = (one for one in said.split() if one in things or one.endswith(_LONG_FINDINGS))
    return next(grown, "") if HEIGHT in said else ""


def _is_finding(part: QuestionPart) -> bool:
    """Whether what is named is found by imaging: "liver mets", "the biggest nodule"."""
    known = (one for run in part.runs[:1] for one in run.known if one.tool != "results")  # no BMI
    said = {word for one in known for word in one.name.split()}
    said |= {run.text.split()[-1] for run in part.runs[:1]}
    found = [one for one in said if one in _FINDINGS or one.endswith(_LONG_FINDINGS)]
    return bool(found or _grown(part))


def _of_size(part: QuestionPart) -> ChartQuestion:
    """Return the question for how large something is: of what imaging finds its reports."""
    run = part.runs[0]
    organs = of_people("organs") if {one.tool for one in run.known} == {SEARCH} else frozenset()
    if _is_finding(part) or organs & {*run.spelt.split()}:
        shown: Aspect = "first" if "first" in part.aspects else "latest"
        is_of_all = bool(part.aspects - EDGES) or "compared" in part.frames
        shown = next(iter(part.aspects & RANKED), "all") if is_of_all else shown
        name = run.name_for("problems").replace(HEIGHT, "").strip().removeprefix("of ")
        head = HEIGHT if _grown(part) else ""
        return ChartQuestion("imaging_reports", {}, shown, name, head=head, said=run.text)
    name = run.text if not run.known or run.text in run.spelt else run.spelt
    return replace(named(SEARCH, f"{name} size", "all", None), said=name)


def of_tumours(asked: Iterable[ChartQuestion], part: QuestionPart) -> Iterator[ChartQuestion]:
    """Yield the questions; of tumours what is no entry of its own in the list of problems.

    When one came back its metastases and the texts tell, and how many there are the images: that
    "metastasis to bone" is one entry counts no lesions.
    """
    for one in asked:
        is_growth = one.arguments == GROWTH and part.aspects <= {"when"}  # "recurrence when?"
        if "recurred" in part.frames and (is_growth or is_of_tumour(one)):
            yield ChartQuestion("problems", OF_ALL, "when", _METASTASIS)
            yield ChartQuestion(SEARCH, GROWTH, head=one.name)
        elif one.aspect == "count" and _METASTASIS in one.name:
            yield replace(one, aspect="all")
            yield ChartQuestion("imaging_reports", {}, "all", one.name)
        else:
            yield one


def is_of_tumour(question: ChartQuestion) -> bool:
    """Whether an illness is a tumour, or a spread of one."""
    members = concept_rows()["problems"]["Cancer"]["members"]
    tumours = {str(one).casefold() for one in members} | _FINDINGS
    name = question.name
    return question.tool == "problems" and not tumours.isdisjoint((name, *name.split()))


def named(tool: str, name: str, aspect: Aspect, what: Part | None) -> ChartQuestion:
    """Return the question for one thing: also what is over is looked at."""
    if tool == "results":
        return values_of([name], aspect, what)
    arguments = {"name": name} if tool in NAMED_BY_ARGUMENT else {}
    arguments |= {"query": name} if tool == SEARCH else {}
    arguments |= {"status": "all"} if tool in OVER else {}
    return ChartQuestion(tool, arguments, aspect, name, what)


def is_either(part: QuestionPart, words: Lexicon) -> bool:
    """Whether it is asked which of two it is: "type 1 or 2?", and no "or not?"."""
    return any(
        one.text in words.words.either and behind.text not in words.words.negations
        for one, behind in pairwise(part.pieces[1:])
    )


def aspect_of_denied(part: QuestionPart, words: Lexicon) -> Aspect | None:
    """Return what is told where that it was given is no yes: "was it never given?"."""
    is_denied = any(
        behind.text in words.words.denials and one.text not in words.words.either
        for one, behind in pairwise(part.pieces)
    )
    has_limit = any(one.of("above") or one.of("below") for one in part.pieces)
    return None if not is_denied else "count" if has_limit else "all"


def plainly_asked(asked: Iterable[ChartQuestion], plain: Aspect) -> Iterator[ChartQuestion]:
    """Yield the questions, those for a yes as `plain`; a drug taken for an illness is one."""
    for one in asked:
        is_whether = one.aspect == "whether" and one.part != "reason"
        # That it is there is no yes to "is it severe?", nor a goal one to "is he at goal?".
        is_plain = one.part != "severity" and "goal" not in (one.name, one.head)
        yield replace(one, aspect=plain if is_plain else "all") if is_whether else one


def of_relatives(asked: Sequence[ChartQuestion], text: str) -> Sequence[ChartQuestion]:
    """Return why somebody was last seen, and what is asked of a relative as something to look for.

    "How old is her husband, does he smoke?" is not answered by what is told of her.
    """
    words, asked = words_of(text), [*map(why_last_seen, asked)]
    owners = of_people("owners", "titles_of_patients", "of_patients")
    behind = (word for before, word in pairwise(words) if before in owners)
    owned = [word for word in behind if {word, word[:-1]} & of_people("relatives")]
    if not of_people("subjects").isdisjoint(words):
        return asked
    kin = [*dict.fromkeys(filter(None, map(_kin_of, words)))]
    if kin and asked and says(text, "asks_of_death"):
        return [ChartQuestion("history", {}, "all", kin[0], said=text)]
    if len(kin) == 1 and kin[0] not in _SEVERAL_KIN:  # "does her father have diabetes?"
        asked = [
            replace(one, name=one.name.replace("family", kin[0]), head=one.head and kin[0])
            if one.tool == "history" and "family" in (one.name, one.head)
            else one
            for one in asked
        ]
    if len(kin) == 1 and says(text, "of_a_relative"):
        asked, owned = _of_kin(kin[0], asked), owned or kin
    if not owned:
        return asked
    said = concept_rows()["also_said"].get(owned[0])  # of "ihr Mann" notes in English tell
    sought = ChartQuestion(SEARCH, {"query": said or owned[0]}, name="" if said else owned[0])
    return [sought if one.name in _OF_A_PERSON | HABITS else one for one in asked]


def _of_kin(kin: str, asked: Sequence[ChartQuestion]) -> Sequence[ChartQuestion]:
    """Return what is asked of a relative's own: no row of the patient's tells of "dad's AF"."""
    own = [one for one in asked if one.tool in _OF_ONES_OWN and one.name not in HABITS]
    names = [f"{kin} {one.name}" for one in own if one.name] or [kin] * bool(own)
    rest = [one for one in asked if one not in own and not (own and one.tool in _TOLD_OF_KIN)]
    return [*rest, *(ChartQuestion("history", name=one, head=kin * (one != kin)) for one in names)]


def begun(question: ChartQuestion, part: QuestionPart) -> ChartQuestion:
    """Return the question; of what is done again and again its start is the first time."""
    is_start = question.aspect == "when" and any(map(begins, part.pieces))
    is_start &= question.tool in _DONE_AGAIN
    return replace(question, aspect="first") if is_start else question


def asks_who(part: QuestionPart) -> bool:
    """Whether a doctor is asked for, and nothing besides is named."""
    is_bare = not part.topics and not part.runs
    return is_bare and any("people" in one.of("part") and not one.of("stop") for one in part.pieces)


def _kin_of(word: str) -> str:
    """Return what records call a relative; "" for any other word."""
    called = concept_rows()["relatives_called"].items()
    return next((name for name, words in called if word in words), "")


def of_whose_words(text: str, ask: Ask) -> tuple[ChartQuestion, ...]:
    """Return where somebody writes of something: "what did cardiology say about the valve?"."""
    said = parts_in(text, "who_said") or {"who": "", "about": ""}
    who = said["who"]
    if not who or not of_people("subjects").isdisjoint(words_of(who)):
        return ()
    if any(one.tool != SEARCH or not one.name for one in ask(f"{who}?")):
        return ()  # what the CT or the board says is asked of these
    about = next((one.name for one in ask(f"{said['about']}?") if one.name), said["about"])
    return (named(SEARCH, f"{who} {about}", "all", None),)


_CODE = re.compile(
    r"\b(?!(?:19\d|20[0-2])\d\b)(?:[A-Z]\d\d(?:\.\w{1,3})?|\d{3,}(?:-\d)?)\b", re.IGNORECASE
)


def codes_asked(text: str, words: Lexicon) -> tuple[ChartQuestion, ...]:
    """Return what is looked up by the codes of `text`, where it names nothing besides them."""
    is_marked = says(text, "names_code_system")
    codes = [one for one in _CODE.findall(text) if is_marked or not one.isalnum()]
    pieces = words.pieces(fold(_CODE.sub(" ", text))[0]) if codes else []
    named = (one.text for one in pieces if one.of("topic") or one.of("name"))
    is_more = not all(says(one, "names_code_system") for one in named)
    return tuple(ChartQuestion(SEARCH, {"query": one}, "all", one) for one in codes if not is_more)


CHANGES = "changes"
"""The tool for what is new, changed, ended or resulted."""


def asks_what_changed(text: str, pieces: Sequence[Piece], *, has_days: bool) -> bool:
    """Whether it asks so of all since the last look, or, where it names days, since then."""
    if any("name" in piece.by_kind for piece in pieces):
        return False
    return says(text, "since_last_looked") or (has_days and says(text, "what_is_new"))

"""Which tool of the chart a name is for: by the vocabulary, else by the words around it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from services.language.charts.chart_file import chart_file
from services.language.charts.chart_parts import QuestionPart
from services.language.charts.chart_pieces import NameIs
from services.language.charts.chart_words import lexicon
from services.language.charts.named_runs import FOR, Run
from services.language.utterance import ChartQuestion
from services.language.words.vocabulary import concept_rows, drug_words

SEARCH = "search_record"
"""The tool for what no other is known for."""
OVER = {"problems": "resolved", "medications": "stopped"}
"""The status by which a tool is asked for what is over."""
_BY_FRAME = {"takes": "medications", "has": "problems", "had_done": "procedures"}
_BY_PART = {
    "dose": "medications",
    "reaction": "allergies",
    "range": "results",
    "unit": "results",
    "status": "problems",
}
OF_ALL: Mapping[str, str] = {"status": "all"}
GIVEN = ChartQuestion("medications", OF_ALL)
GIVEN_FOR = frozenset({"medications", "procedures", "encounters"})
"""The tools for what there is because of an illness."""
HABITS = frozenset({"tobacco smoking status", "alcohol use", "pack years"})
"""Told among the values, though one takes them: "does she smoke or use drugs?"."""
VALUE_ASPECTS = frozenset(
    {"minimum", "maximum", "extremes", "average", "change", "trend", "latest", "first"}
)
WORKED_OUT = frozenset({"minimum", "maximum", "extremes", "average", "change"})


def tools_of(run: Run, part: QuestionPart) -> tuple[str, ...]:
    """Return the tools that a name is for; two where it names what either tells of.

    "Has she had shingles?": that she was vaccinated is no yes. Chemotherapy is drugs and sessions.
    """
    tool = tool_of(run, part)
    named = {one.tool for one in run.known}
    if tool == "problems" and "immunizations" in named:
        is_given = part.frames & {"takes", "had_done"} or {"due", "dose"} & {*part.parts}
        return ("immunizations",) if is_given else ("problems", "immunizations")
    if tool == "allergies" and "immunizations" in named:
        return ("allergies", "immunizations")  # "reaction to dtap": both may tell of one
    if tool == "allergies" and (others := named & {"results", "medications"}):
        # "IgE peanut" is a value, "Evra Pflaster" a drug.
        tool = "results" if "results" in others else "allergies" if run.is_exact else "medications"
    if tool == "medications" and "procedures" in named:
        # "Spiro" is two things of two names, chemotherapy one of both lists.
        is_drug = len({one.name for one in run.known}) > 1 and bool(part.frames & {"takes", "over"})
        return ("medications",) if is_drug else ("procedures", "medications")
    is_judged = "range" in part.parts and "dose" not in part.parts  # "… ok?", no "dose raised?"
    is_of_safety = is_judged or part.frames & {"troubled", "tolerated"}
    if tool == "medications" and is_of_safety:
        return ("allergies", "medications")
    both = {one.tool for one in run.known if run.main and one.name == run.main.name}
    if both >= {"results", "problems"}:
        return ("results", "problems")  # told by values and by illnesses: risk factors
    return () if tool is None else (tool,)


def tool_of(run: Run, part: QuestionPart) -> str | None:
    """Return the tool that a name is for: by the vocabulary, else by the words around it."""
    if "reaction" in part.parts and (run.main is None or run.main.tool != "problems"):
        return "allergies"  # and symptoms of an illness are no reaction to it
    if run.main is None:
        return _tool_around(part, run)
    tool = run.main.tool
    if "measured" in part.frames and any(one.tool == "immunizations" for one in run.known):
        return SEARCH  # a test for what there are vaccines against
    if tool in ("problems", "allergies") and part.frames & {"tested", "outcome"}:
        return SEARCH  # a test for an illness says not that it is there
    if tool == "medications" and ("level_of" in part.frames or _has_levels(run, part)):
        return "results"  # "digoxin level", "tacrolimus trend"
    if tool == "results" and "treatment" in part.parts:
        return "medications"  # "is her pressure treated?"
    is_taken = "takes" in part.frames and "measured" not in part.frames and _is_of_a_drug(part)
    is_taken = (is_taken and run.main.name not in HABITS) or "given" in part.frames
    is_drug = tool == "results" and is_taken and names_drugs(run.main.name)  # of no saturation
    return "medications" if is_drug else tool


def _has_levels(run: Run, part: QuestionPart) -> bool:
    """Whether the course of what is measured in blood is asked for, and no dose."""
    name = f"{run.main.name} level" if run.main is not None else ""
    is_value = any(one.tool == "results" for one in run.known)  # "Hct" is a drug and a value
    is_course = bool(part.aspects & {*WORKED_OUT, "trend"}) and "dose" not in part.parts
    is_level = is_value or name.capitalize() in concept_rows()["results"]
    is_bare = not part.frames & {"takes", "over"} and not {*part.parts}  # "dexa", not "dexa dose"
    is_bare &= part.aspects != {"when"}  # "since when HCT" is asked of the drug
    return (is_course and is_level) or (is_value and (_is_limited(part) or is_bare))


def _is_of_a_drug(part: QuestionPart) -> bool:
    """Whether what is taken is asked for: "is she on iron?", "what did he get for the pain?"."""
    is_for = any(piece.text in FOR for piece in part.pieces)
    if part.aspects & WORKED_OUT and "dose" not in part.parts:
        return False  # "did the LDL come down on it?"
    is_since = "reason" in part.parts or (
        "when" in part.aspects and "past" not in part.frames
    )  # "since when on iron?"; "when was the iron taken" is of blood
    return is_for or is_since or "whether" in part.aspects or "dose" in part.parts


def _tool_around(part: QuestionPart, run: Run) -> str | None:
    if "treatment" in part.parts and run.text in _taken_for():
        return "medications"  # "does she take anything for the bones?"
    if "measured" in part.frames or _is_limited(part):
        return "results"
    by_part = next((_BY_PART[what] for what in part.parts if what in _BY_PART), None)
    if by_part == "medications" and lexicon("en").is_ordinary(run.text):
        by_part = None  # "how much fluid was drained": no drug
    taken = {piece.text for piece in part.pieces if "takes" in piece.of("frame")}
    if taken and (taken <= {*run.text.split()} or "side" in part.parts):
        return None  # "is anything pressing on the cord?"
    by_frame = next((tool for frame, tool in _BY_FRAME.items() if frame in part.frames), None)
    return by_frame or by_part or ("results" if part.aspects & VALUE_ASPECTS else None)


def _is_limited(part: QuestionPart) -> bool:
    """Whether values beyond a figure are asked for, or "between 100 and 120"."""
    figures = sum(one.text[0].isdigit() for one in part.pieces)
    is_limit = any(piece.of("above") or piece.of("below") for piece in part.pieces)
    return (is_limit and figures > 0) or ("apart" in part.frames and figures > 1)


@cache
def _taken_for() -> frozenset[str]:
    return frozenset(str(one) for said in concept_rows()["taken_for"].values() for one in said)


def with_treatment(part: QuestionPart) -> QuestionPart:
    """Note what is asked in "what did he take, what was done for the cut?": how it was treated."""
    known = [tool_of(run, part) for run in part.runs if run.known]
    is_taken = "takes" in part.frames and "whether" not in part.aspects
    if is_taken and not part.runs and [topic.tool for topic in part.topics] == ["encounters"]:
        part.parts = ["treatment"]  # "why was she in the ER, and what did she get for it?"
    topics = [(topic.tool, topic.name) for topic in part.topics]
    if (
        known == ["results"]
        and topics == [("current_status", "treatment")]
        and not (part.aspects or part.parts)
    ):
        part.topics, part.parts = [], ["treatment"]  # "BP treatment"
    if known == ["medications"] and topics == [("current_status", "treatment")]:
        part.topics = []  # "Statintherapie seit"
    if known != ["problems"] or part.parts:
        return part
    is_done = topics == [("procedures", "")] or ("had_done" in part.frames and not topics)
    is_done &= not part.aspects and not part.frames & {"measured", "tested"}
    is_named = [name for _, name in topics] == ["treatment"]
    is_named |= topics == [("medications", "")] and not (part.aspects or part.frames)
    if is_named or is_done or (is_taken and not topics):
        part.topics, part.parts = [], ["treatment"]
    return part


def with_others_meant(part: QuestionPart) -> QuestionPart:
    """Note what is asked of something else than is named.

    "Does he still have his appendix?" asks whether it was taken out, "how many times pregnant?" for
    all pregnancies, however they ended.
    """
    lists = {(topic.tool, topic.name) for topic in part.topics}
    is_for = any(piece.text in FOR for piece in part.pieces)
    if (
        is_for
        and "may_have" not in part.frames
        and lists == {("medications", ""), ("allergies", "")}
    ):
        part.topics = [topic for topic in part.topics if topic.tool == "medications"]
        taken_for = NameIs("problems", "allergy")  # "what does she take for her allergies?"
        part.runs.append(Run("allergy", (taken_for,), is_exact=True, main=taken_for))
    said = [piece for piece in part.pieces if any(map(str.isalnum, piece.text))]
    if part.runs and said[-1].text in FOR:
        part.parts.append("reason")  # "what is the ibuprofen for"
    is_had = "has" in part.frames and not part.frames & {"measured", "had_done"}
    if ("status" in part.parts or is_had) and not part.topics:
        part.runs = list(_meant("procedures", chart_file("en").removals, part.runs))
    if "count" in part.aspects and not part.topics:
        part.runs = list(_meant("problems", chart_file("en").counted_as, part.runs))
    return part


def _meant(tool: str, by_name: Mapping[str, str], runs: list[Run]) -> Iterator[Run]:
    for run in runs:
        meant = by_name.get(run.name)
        known = NameIs(tool, meant or "")
        yield run if meant is None else Run(meant, (known,), is_exact=True, main=known)


def ills_shown_by(value: str) -> list[str]:
    """Return the illnesses of which a value tells most: hypertension of the blood pressure."""
    return [ill for ill, shown in concept_rows()["measured_for"].items() if shown == value]


def given_at(run: Run, asked: ChartQuestion) -> ChartQuestion | None:
    """Return what was given where a value was so; None for what drugs are named by: potassium.

    Of "fever" it is what was given for it, of a marker "under what did it rise?" all drugs.
    """
    ills = [one.name for one in run.known if one.tool == "problems"]
    if ills and asked.tool == "medications" and (drug := run.head_for(asked.tool)):
        arguments = {"name": drug, **OF_ALL}  # "asthma inhaler": one for it
        return replace(asked, arguments=arguments, name=f"{drug} {ills[0]}")
    is_value = asked.part == "treatment" and run.main is not None and run.main.tool == "results"
    return given_for_value(run.name) if is_value and not names_drugs(run.name) else None


def names_drugs(value: str) -> bool:
    """Whether drugs are named by a value: for the blood pressure, potassium."""
    return value in _taken_for() or not drug_words().isdisjoint(value.split())


def given_for_value(value: str) -> ChartQuestion:
    """Return what is given for the illness of which a value tells, else all that is given."""
    ills = ills_shown_by(value)
    return ChartQuestion("problems", OF_ALL, "all", ills[0], "treatment") if ills else GIVEN


def taken_for(asked: list[ChartQuestion], part: QuestionPart) -> list[ChartQuestion]:
    """Return a drug with the illness that it is asked for with: antibiotics for sinusitis."""
    is_for = any(piece.words[-1] in FOR for piece in part.pieces)
    is_drug = is_for and len(asked) == len(part.runs) == 2 and asked[0].tool == "medications"
    if not is_drug or asked[1].tool not in ("medications", "problems", SEARCH):
        return asked
    drug, ill = asked
    is_whether = "whether" in part.aspects and "may_have" not in part.frames
    drug = replace(drug, part="reason") if is_whether and drug.part is None else drug
    if ill.tool != "problems":  # for the blood pressure, for the knee: no illness
        main, ills = part.runs[1].main, ills_shown_by(ill.name) or [ill.name]
        if len(ills) > 1 or (main is not None and main.tool == "medications"):
            return asked
        ill = replace(ill, name=ills[0])
    return [replace(drug, name=f"{drug.name} {ill.name}", head=drug.name)]

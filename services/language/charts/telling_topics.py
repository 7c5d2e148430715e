"""Which of the topics that a question names say what it asks for. Pure."""

from collections.abc import Collection, Mapping, Sequence

from services.language.charts.chart_file import TopicSpec
from services.language.charts.chart_parts import RANKED, QuestionPart
from services.language.charts.named_runs import Run
from services.language.charts.tools_named import SEARCH
from services.language.utterance import Aspect
from services.language.words.vocabulary import concept_rows

NEVER_OF = {
    "problems": frozenset({"results", "medications", "immunizations", "procedures"}),
    "procedures": frozenset({"results", "medications", "immunizations"}),
}
"""What is named for another tool, and no row of this one."""
_REACHED = ("phone", "contact person")
_BEFORE_OTHERS = (_REACHED, ("care plan", "goal"))  # "Diabetesplan: Ziele?"
_BY_STATE = frozenset({"encounters"})
_ALSO_INJECTED = frozenset({"procedures", "medications"})
_VAGUE = ("chart_summary", "timeline", "documents", "problems", "history")
_GENES_TOGETHER = frozenset({"", "germline"})


def telling_topics(
    topics: Sequence[TopicSpec], runs: Sequence[Run], aspects: Collection[Aspect]
) -> list[TopicSpec]:
    """Return the topics that say most: of one tool the one with a name or arguments."""
    found: dict[str, TopicSpec] = {}
    for topic in topics:
        kept = found.get(topic.tool)
        is_meant = kept is not None and (kept.name, topic.name) in _BEFORE_OTHERS
        if kept is None or (not kept.name and not kept.arguments) or is_meant:
            found[topic.tool] = topic
        elif topic.tool == "biomarkers" and _GENES_TOGETHER.isdisjoint((kept.name, topic.name)):
            found[topic.name] = topic  # "kras nras braf"
    status = found.get("current_status")
    if status is not None and _is_of_something_else(status, found, runs):
        del found["current_status"]
    named = {known.tool for run in runs for known in run.known}
    for tool in _meant_otherwise(found, named, aspects):
        del found[tool]
    for vague in _VAGUE:
        if vague in found and not found[vague].name and _is_beside(vague, len(found), named):
            del found[vague]
    return list(found.values())


def with_part_meant(topics: Sequence[TopicSpec], part: QuestionPart) -> list[TopicSpec]:
    """Return the topics as what a part says makes another of them.

    Whether a scan may be made the implants tell, the telephone number of kin is a contact person's,
    and the next visit is one that is planned. Who is a relative is no illness of theirs.
    """
    known = {known.tool for run in part.runs for known in run.known}
    if known and known <= {"procedures", SEARCH}:  # "resection possible?"
        topics = [one for one in topics if one.tool != "allergies"]
    is_given = any(known.tool == "allergies" for run in part.runs for known in run.known)
    is_allowed = "may_have" in part.frames or (is_given and "range" in part.parts)
    if "of_kin" in part.frames and (kin := [one for one in topics if one.name in _REACHED]):
        topics = [kin[0].model_copy(update={"name": _REACHED[1]})]
    if {"of_kin"} <= part.frames and part.parts[:1] == ["people"] and not part.runs:
        of_kin = {"tool": "chart_summary", "name": _REACHED[1]}  # "who is her mother?"
        topics = [one.model_copy(update=of_kin if one.name == "family" else {}) for one in topics]
    meant = {"imaging_reports": {"tool": "care", "name": "implant"}} if is_allowed else {}
    made = list[TopicSpec]()
    if part.parts[:1] == ["due"] or "missed" in part.frames:
        is_of_last = bool(part.runs) or any(one.name for one in topics)
        if is_of_last and ("whether" not in part.aspects or "trend" in part.aspects):
            made = [one for one in topics if one.tool == "imaging_reports"]
        meant["encounters"] = {"name": "missed" if "missed" in part.frames else "planned"}
        meant.setdefault("imaging_reports", {"tool": "care", "name": "open order"})
    return [
        one.model_copy(update=meant[one.tool])
        if one.tool in meant and (not one.name or one.tool not in _BY_STATE)
        else one
        for one in topics
    ] + made


def _meant_otherwise(
    found: Mapping[str, TopicSpec], named: Collection[str], aspects: Collection[Aspect]
) -> list[str]:
    """Return the tools of whose list something else says what is meant."""
    is_injected = bool(named) and {*named} <= _ALSO_INJECTED
    is_ranked = {*named} == {"results"} and bool(RANKED & {*aspects})
    is_plain = "encounters" in found and not found["encounters"].name
    is_at_visits = {*named} == {"results"} and is_plain and not {*aspects} & {"count", "when"}
    of_person = found["chart_summary"].name if "chart_summary" in found else ""
    is_drug = "medications" in found or "medications" in named
    is_of_other = of_person == "name" and ("care" in found or is_drug)  # "what is his pill called?"
    # "Where were her kids born?", "does she live in a nursing home?"
    is_of_other |= of_person in ("birth date", "address") and SEARCH in found
    of_family = "history" in found and found["history"].name == "family"
    is_of_other |= of_person in ("birth date", "age", "vital status") and of_family
    is_broken_off = "medications" in found and bool(found["medications"].name)  # side effects
    care = found["care"].name if "care" in found else ""
    beside = {
        "results": "results" in named,  # "lab value of potassium" is about potassium
        "encounters": is_at_visits,  # "weight at the last five visits"
        "immunizations": is_injected,  # "how many B12 shots"
        "allergies": is_ranked,  # "which allergen had the highest IgE?"
        "medications": "allergies" in found and not is_broken_off,  # "which drugs can't she take?"
        "problems": "timeline" in found,  # "the timeline of her illness"
        "chart_summary": is_of_other,
        "imaging_reports": care in ("order", "open order"),  # "what scans are outstanding?"
    }
    return [tool for tool, is_meant in beside.items() if is_meant and tool in found]


def _is_beside(vague: str, count: int, named: Collection[str]) -> bool:
    """Whether a whole list is not meant: "how is she doing, her kidneys", "was war der Hb"."""
    is_named = vague == "chart_summary" and bool(named)
    # "what became of his statin?"
    is_named |= vague == "timeline" and {*named} in ({"results"}, {"medications"})
    is_of_others = vague == "problems" and bool(named) and {*named} <= NEVER_OF["problems"]
    return count > 1 or is_named or is_of_others


def _is_of_something_else(
    status: TopicSpec, found: Mapping[str, TopicSpec], runs: Sequence[Run]
) -> bool:
    """Whether the status or stage of something is asked for that is no tumour: "rubella status"."""
    if status.name in ("stage", ""):
        named = [known.name for run in runs for known in run.known if known.tool == "problems"]
        members = concept_rows()["problems"]["Cancer"]["members"]
        tumours = ("cancer", "metasta", *(str(one).casefold() for one in members))
        return bool(named) and not any(one in name for name in named for one in tumours)
    return status.name == "status" and bool(runs or len(found) > 1)

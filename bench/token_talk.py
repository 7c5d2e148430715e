"""The talk of the token bench: thirty turns with two boards, and a model that plays it by rote.

It routes, calls tools and answers as a model does that knows its part, in the order and the sizes
of real answers; the wording is of no matter. It reads the wire in whatever form it has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer

_SENTENCE = "The finding of that date is unchanged against the study before it [{ref}]. "
_CLOSE = "All steps of the plan are done"
_BOARD = (
    ("PatientHistory", "timeline"),
    ("PatientStatus", "current_status"),
    ("Radiology", "imaging_reports"),
    ("Pathology", "pathology_reports"),
    ("ReportCreation", "create_report"),
)


@dataclass(frozen=True)
class Part:
    """One message and who answers it.

    Attributes:
        agent: "" where the facilitator answers itself, or nobody is asked.
        tool: What that agent calls.
        looks_up: Whether it asks the record for something.
    """

    text: str
    agent: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def looks_up(self) -> bool:
        """Whether it is a question that the record answers."""
        return bool(self.tool)


def _notes(query: str) -> Mapping[str, Any]:
    return {"query": query}


TALK = (
    Part("switch to patient_4"),
    Part("What is the diagnosis?", "PatientStatus", "current_status"),
    Part("Start the tumor board review"),
    Part("yes proceed"),
    Part("What is the current stage?", "PatientStatus", "current_status"),
    Part("and the ECOG?", "PatientStatus", "current_status"),
    Part("What does the latest imaging show?", "Radiology", "imaging_reports"),
    Part("How does that compare with the first scan?", "Radiology", "imaging_reports"),
    Part("Which mutations were found?", "Pathology", "biomarkers"),
    Part("Any allergies?", "PatientHistory", "search_record", _notes("allergy")),
    Part("When did the treatment begin?", "PatientHistory", "timeline"),
    Part("Did the notes mention neuropathy?", "PatientHistory", "search_record", _notes("nerve")),
    Part("Which medicines is the patient on now?", "PatientStatus", "current_status"),
    Part("Were the margins free?", "Pathology", "pathology_reports"),
    Part("thanks"),
    Part("switch to patient_15"),
    Part("What is the histology?", "Pathology", "pathology_reports"),
    Part("What is the latest MRI?", "Radiology", "imaging_reports"),
    Part("Start the tumor board review"),
    Part("yes proceed"),
    Part("Is there any bone metastasis?", "Radiology", "imaging_reports"),
    Part("What is the receptor status?", "Pathology", "biomarkers"),
    Part("Summarise the course of the last two years", "PatientHistory", "timeline"),
    Part("What was the dose of the radiotherapy?", "PatientHistory", "search_record", _notes("Gy")),
    Part("How is the performance status?", "PatientStatus", "current_status"),
    Part("switch to patient_4"),
    Part("Hb and creatinine please", "PatientHistory", "search_record", _notes("creatinine")),
    Part("Has the lesion grown?", "Radiology", "imaging_reports"),
    Part("What is PD-L1?", "Pathology", "biomarkers"),
    Part("What should we discuss next week?"),
)


class RoteModel:
    """Plays its part of `part`, the message that is being answered."""

    def __init__(self) -> None:
        self.part = TALK[0]
        self.requests: list[RecordedRequest] = []

    def __call__(self, request: RecordedRequest) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        if "response_format" in request.body:
            return Reply(text=self._reading(request))
        ending = "\n".join(str(row.get("content") or "") for row in request.messages[-2:])
        if request.messages[-1]["role"] == "tool":
            return self._from_rows(request, ending)
        if _is_facilitator(request):
            return self._lead(request, ending)
        tools = {name.rpartition("-")[2]: name for name in request.tool_names}
        step = next(
            (tool for name, tool in _BOARD if f"You are {name}." in request.instructions), ""
        )
        asked = self.part.tool if self.part.tool in tools else step
        if "Carry out the step" in ending:
            asked = step
        if not asked or ("CHART_ROWS" in ending and self.part.tool):
            return _said(3)
        arguments = self.part.arguments if asked == self.part.tool else {}
        return Reply(tool_calls=[ToolCall(tools[asked], arguments)])

    def _lead(self, request: RecordedRequest, ending: str) -> Reply:
        if _CLOSE in ending:
            return _said(4)
        if self.part.text.startswith("Start the tumor board"):
            steps = [{"agent": name, "text": "do your part", "needs": []} for name, _ in _BOARD]
            name = next(one for one in request.tool_names if one.endswith("propose_plan"))
            return Reply(text="I propose this plan.", tool_calls=[ToolCall(name, {"steps": steps})])
        if self.part.agent:
            return Reply(text=f"*{self.part.agent}*, please answer this question.")
        return _said(2)

    def _from_rows(self, request: RecordedRequest, ending: str) -> Reply:
        everything = "\n".join(str(row.get("content") or "") for row in request.messages)
        in_step = "Carry out the step that was just called, using your tools" in everything
        back = "\n\nBack to you *Orchestrator*." if in_step else ""
        return _said(3, back)

    def _reading(self, request: RecordedRequest) -> str:
        answer = orjson.loads(structured_answer(request.body))
        if "agent" in answer and self.part.agent:
            name = next(iter(self.part.arguments.values()), "")
            topics = [{"tool": self.part.tool, "name": name}]
            answer |= {"agent": self.part.agent, "task": "answer", "topics": topics}
        if "task" in answer and self.part.text.startswith("Start the tumor board"):
            answer |= {"task": "plan"}
        return orjson.dumps(answer).decode()


def _is_facilitator(request: RecordedRequest) -> bool:
    return any(name.endswith("propose_plan") for name in request.tool_names)


def _said(sentences: int, ending: str = "") -> Reply:
    refs = (f"DocumentReference/note-{number}" for number in range(1, sentences + 1))
    return Reply(text="".join(_SENTENCE.format(ref=ref) for ref in refs).strip() + ending)

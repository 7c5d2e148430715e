"""What came of the turns of a herd: what was said beside what is stored, shown and logged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from data_models.chat_context import Turn
from data_models.errors import ClaimLostError
from tests.durability.herd import Herd, Talk

_ANSWERED = ("success", "interrupt")


@dataclass(frozen=True)
class Report:
    """What came of all turns; what is not listed as wrong is right.

    Attributes:
        refused: Turns that a server went on with after another had taken them over; none of
            their writes was taken.
        shown_again: Bot replies that the channel got twice: it was told before the server that
            sent it died, or slept, and had not noted it.
    """

    turns: int
    answered_once: int
    wrong: list[str]
    kills: int
    pauses: int
    refused: int
    sent_again: int
    died_in_the_middle: int
    shown_again: int

    @property
    def is_good(self) -> bool:
        """Whether every turn was answered, once, in order."""
        return not self.wrong and self.answered_once == self.turns

    def __str__(self) -> str:
        lines = [
            f"turns                {self.turns}",
            f"answered once        {self.answered_once}",
            f"wrong                {len(self.wrong)}",
            f"servers killed       {self.kills}",
            f"servers paused       {self.pauses}",
            f"refused after it     {self.refused}",
            f"messages sent again  {self.sent_again}",
            f"turns that died      {self.died_in_the_middle}",
            f"replies shown twice  {self.shown_again}",
        ]
        return "\n".join([*lines, *self.wrong])


def report_of(herd: Herd, talks: Sequence[Talk]) -> Report:
    """Compare what was said with what is stored."""
    stored = {talk.name: _notes(herd, talk) for talk in talks}
    done = {
        name: [turn for turn in turns if turn.turn_status == "COMPLETED"]
        for name, turns in stored.items()
    }
    wrong = [line for talk in talks for line in _wrong(talk, done[talk.name])]
    finished = Counter(
        line["run_id"] for line in _logged(herd, "turn_finished") if line["outcome"] in _ANSWERED
    )
    wrong += [
        f"{run_id}: finished {times} times" for run_id, times in finished.items() if times > 1
    ]
    heard = Counter((talk.name, text) for talk in talks for text in _heard(talk))
    return Report(
        turns=sum(len(talk.said) for talk in talks),
        answered_once=sum(
            Counter(turn.user_message for turn in done[talk.name])[note] == 1
            for talk in talks
            for note in talk.said
        ),
        wrong=wrong,
        kills=herd.kills,
        pauses=herd.pauses,
        refused=len(
            {
                line["run_id"]
                for line in _logged(herd, "turn_not_released")
                if line["code"] == ClaimLostError.code
            }
        ),
        sent_again=sum(talk.again for talk in talks),
        died_in_the_middle=sum(len(stored[name]) - len(done[name]) for name in stored),
        shown_again=sum(times > 1 for times in heard.values()),
    )


def _notes(herd: Herd, talk: Talk) -> list[Turn]:
    """Return the stored turns of the notes, in order, wherever they are stored."""
    found = herd.evidence(talk.conversation).turns()
    elsewhere = [one for one in found if one.patient_id not in (None, "patient_4")]
    assert elsewhere == [], f"{talk.name}: another patient"
    turns = sorted((one.turn for one in found), key=lambda turn: turn.turn_id)
    return [turn for turn in turns if turn.user_message.startswith("note ")]


def _wrong(talk: Talk, done: Sequence[Turn]) -> Iterator[str]:
    answers = Counter(turn.user_message for turn in done)
    counts = [f"{text}: {answers[text]} answers" for text in talk.said if answers[text] != 1]
    yield from counts
    for turn in done:
        if f"Heard {turn.user_message}" not in turn.agent_responses[-1].text:
            yield f"{turn.user_message}: answered with something else"
    if not counts and [turn.user_message for turn in done] != talk.said:
        yield f"{talk.name}: out of order"
    for words in talk.late:
        if not any(words in text for text in talk.heard):
            yield f"{talk.name}: {words} did not reach the channel"


def _logged(herd: Herd, event: str) -> Iterator[dict[str, Any]]:
    for server in herd.servers:
        yield from server.log_lines(event)


def _heard(talk: Talk) -> Iterator[str]:
    """Yield the notes whose answers reached the channel, as often as they did."""
    for text in talk.heard:
        yield from (note for note in talk.said if f"Heard {note}" in text)

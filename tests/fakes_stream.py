"""What Teams asks of a streamed message, and how it refuses what breaks a rule."""

import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

Activity = dict[str, Any]

STREAM_SECONDS = 120.0
UPDATES_APART_SECONDS = 1.0
_LEEWAY_SECONDS = 0.02  # two clocks' worth of rounding


@dataclass
class Stream:
    """One message that is being written."""

    conversation: str
    began: float
    updated: float
    sequence: int = 1
    text: str = ""
    has_text: bool = False
    is_over: bool = False
    is_stopped: bool = False


class StreamRules:
    """One-to-one chats only, one stream at a time, one update a second, text that only grows.

    `faults` holds what a bot must never do; that a user stops a stream, or that time runs out
    while a refusal is under way, is no fault.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.seconds = STREAM_SECONDS
        self._streams: dict[str, Stream] = {}

    def stop(self, conversation: str) -> None:
        """Press Teams' Stop button."""
        for stream in self._open(conversation):
            stream.is_stopped = True

    def updates(self, conversation: str) -> int:
        """How many updates the newest stream there has had."""
        streams = [one for one in self._streams.values() if one.conversation == conversation]
        return streams[-1].sequence if streams else 0

    def refusal(self, place: Activity, activity: Activity) -> web.Response | None:
        """Return the answer to an update or final message that breaks a rule."""
        info = stream_info(activity) or {}
        if place.get("conversationType") != "personal":
            return self._fault(405, "MethodNotAllowed", "a stream in a group")
        if "streamId" not in info:
            return self._first_fault(place["id"], info)
        stream = self._streams.get(info["streamId"])
        if stream is None or stream.conversation != place["id"]:
            return self._fault(403, "ContentStreamNotAllowed", "an unknown stream")
        return self._next_fault(stream, info, activity)

    def took(self, conversation: str, activity: Activity, sent_id: str) -> None:
        """Remember an update that was taken."""
        info = stream_info(activity)
        if info is None:
            return
        now = time.monotonic()
        stream = self._streams.setdefault(sent_id, Stream(conversation, began=now, updated=now))
        stream.updated = now
        stream.sequence = info.get("streamSequence", stream.sequence)
        stream.is_over = info["streamType"] == "final"
        if info["streamType"] == "streaming":
            stream.text, stream.has_text = activity["text"], True

    def _first_fault(self, conversation: str, info: Activity) -> web.Response | None:
        if info["streamType"] == "final" or info.get("streamSequence") != 1:
            return self._fault(400, "BadRequest", "a stream that does not begin with 1")
        if self._open(conversation):
            return self._fault(403, "ContentStreamNotAllowed", "two streams at a time")
        return None

    def _next_fault(
        self, stream: Stream, info: Activity, activity: Activity
    ) -> web.Response | None:
        now, kind = time.monotonic(), info["streamType"]
        if stream.is_stopped:
            return _refused(403, "ContentStreamNotAllowed", "Content stream was canceled by user.")
        if stream.is_over or now - stream.began > self.seconds:
            return self._fault(403, "ContentStreamNotAllowed", "a stream that is over")
        if now - stream.updated < UPDATES_APART_SECONDS - _LEEWAY_SECONDS:
            self.faults.append("more than one update a second")
            return web.Response(status=429, headers={"Retry-After": "1"})
        if kind != "final" and info.get("streamSequence") != stream.sequence + 1:
            order = "ContentStreamSequenceOrderPreConditionFailed"
            return self._fault(403, order, "updates out of order")
        if kind == "informative" and stream.has_text:
            return self._fault(403, "ContentStreamNotAllowed", "news after text")
        if kind != "informative" and not (activity.get("text") or "").startswith(stream.text):
            return self._fault(403, "ContentStreamNotAllowed", "a text that does not grow")
        wanted = "message" if kind == "final" else "typing"
        if activity["type"] != wanted or (kind != "final" and activity.get("attachments")):
            return self._fault(400, "BadRequest", f"no {wanted} activity")
        return None

    def _open(self, conversation: str) -> list[Stream]:
        ends = time.monotonic() - self.seconds
        return [
            stream
            for stream in self._streams.values()
            if stream.conversation == conversation
            and not (stream.is_over or stream.is_stopped)
            and stream.began > ends
        ]

    def _fault(self, status: int, code: str, why: str) -> web.Response:
        self.faults.append(why)
        return _refused(status, code, why)


def stream_info(activity: Activity) -> Activity | None:
    """Return the entity that makes `activity` a part of a stream."""
    entities = activity.get("entities", [])
    return next((one for one in entities if one.get("type") == "streaminfo"), None)


def _refused(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)

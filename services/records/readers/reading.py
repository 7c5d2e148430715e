"""Reads documents: harmless forms here, all others in worker processes that are killed in time."""

import asyncio
import contextlib
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final

import structlog

from data_models.errors import RecordsUnreadableError
from services.records.readers import result
from services.records.readers.formats import SIMPLE, format_of, read_simple

WORKERS: Final = 2
KEPT_CHARS: Final = 20_000_000
_ROOT: Final = Path(__file__).parents[3]

_log = structlog.get_logger()


class DocumentReader:
    """Turns bytes into pages of text; may be asked by several threads at once.

    What was read is kept by the bytes' hash, `KEPT_CHARS` characters together.
    """

    def __init__(self, *, workers: int = WORKERS, seconds: float = result.SECONDS_LIMIT) -> None:
        self._seconds = seconds
        self._free: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for _ in range(workers):
            self._free.put(_Worker())
        self._kept: OrderedDict[bytes, result.ReadDocument] = OrderedDict()
        self._kept_chars = 0
        self._keeping = threading.Lock()

    async def read(self, data: bytes, media_type: str) -> result.ReadDocument:
        """Return the text of a document, or in `problem` why there is none."""
        return await asyncio.to_thread(self.read_now, data, media_type)

    def read_now(self, data: bytes, media_type: str) -> result.ReadDocument:
        """Return what `read` does. Blocking, up to `seconds` for each document that waits."""
        if len(data) > result.BYTES_LIMIT:
            return result.ReadDocument(problem=f"it has more than {result.BYTES_LIMIT} bytes")
        try:
            form = format_of(data, media_type)
            if form in SIMPLE:
                return read_simple(data, form, media_type)
        except RecordsUnreadableError as error:
            return result.ReadDocument(problem=str(error))
        key = hashlib.blake2b(data, digest_size=16).digest() + media_type.encode()
        with self._keeping:
            kept = self._kept.get(key)
        if kept is None:
            kept = self._in_worker(data, media_type)
            with self._keeping:
                self._kept[key] = kept
                self._kept_chars += len(kept.text)
                while self._kept_chars > KEPT_CHARS and len(self._kept) > 1:
                    self._kept_chars -= len(self._kept.popitem(last=False)[1].text)
        return kept

    def close(self) -> None:
        """End the workers."""
        while True:
            try:
                self._free.get_nowait().kill()
            except queue.Empty:
                return

    def _in_worker(self, data: bytes, media_type: str) -> result.ReadDocument:
        worker = self._free.get()
        try:
            return worker.read(data, media_type, seconds=self._seconds)
        finally:
            self._free.put(worker)


class _Worker:
    """One process, started when it is needed and again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, data: bytes, media_type: str, *, seconds: float) -> result.ReadDocument:
        if self._process is None or self._process.poll() is not None:
            self.kill()
            self._process = subprocess.Popen(  # our own program, no shell
                [sys.executable, "-m", "services.records.readers.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # libraries quote documents there
                cwd=_ROOT,
                env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        process = self._process
        # A timer kills it: that ends the blocked reading and writing below too.
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            return self._asked(process, data, media_type)
        except (OSError, ValueError):
            self.kill()
            _log.warning("document_worker_ended", bytes=len(data))
            reason = f"it takes more than {seconds:g} seconds or too much memory to read"
            return result.ReadDocument(problem=reason)
        finally:
            timer.cancel()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            self._process = None

    def _asked(
        self, process: "subprocess.Popen[bytes]", data: bytes, media_type: str
    ) -> result.ReadDocument:
        jobs, answers = process.stdin, process.stdout
        if jobs is None or answers is None:
            raise OSError("the worker has no pipes")
        jobs.write(json.dumps({"size": len(data), "media_type": media_type}).encode() + b"\n")
        jobs.write(data)
        jobs.flush()
        said = json.loads(answers.readline())
        return result.ReadDocument(tuple(said["pages"]), said["problem"])

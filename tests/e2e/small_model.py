"""A real language model on loopback, tiny and mostly wrong: `python -m tests.e2e.small_model FILE`.

It proves what must hold whatever a model says; its answers prove nothing.
"""

import sys
import threading
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8_192
# It runs away in unbounded texts, so each answer ends here if it does not end itself.
ANSWER_TOKENS = 48


def parameters(model: Path) -> xllamacpp.CommonParams:
    """Return the server's parameters for one thread; more of them wait for each other."""
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(model)
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = 0
    chosen.n_ctx = CONTEXT_TOKENS
    chosen.n_parallel = 1
    chosen.n_predict = ANSWER_TOKENS
    chosen.cpuparams.n_threads = 1
    chosen.cpuparams_batch.n_threads = 1
    chosen.sampling.seed = 7
    chosen.sampling.temp = 0.2
    chosen.warmup = False
    chosen.use_jinja = True
    return chosen


def main() -> None:
    server = xllamacpp.Server(parameters(Path(sys.argv[1])))
    print(f"listening at {server.listening_address}", flush=True)  # noqa: T201 - who starts it waits
    threading.Event().wait()


if __name__ == "__main__":
    main()

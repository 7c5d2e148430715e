"""What every test stands on: no network but loopback, and the same examples in every run."""

import gc
import inspect
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest
import structlog
from hypothesis import HealthCheck, settings

from data_models.storage import azure_client
from tests import peers
from tests.amounts import LONG_EXAMPLES
from tests.fakes import CountingIds, FixedClock
from tests.network_guard import NetworkGuard
from tests.tables import chooses_rows, whole_table

settings.register_profile(
    "fast",
    deadline=None,
    max_examples=30,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "ci", parent=settings.get_profile("fast"), max_examples=50, print_blob=True
)
settings.register_profile(
    "long", parent=settings.get_profile("ci"), max_examples=LONG_EXAMPLES, derandomize=False
)
settings.register_profile("nightly", parent=settings.get_profile("long"), max_examples=5_000)
settings.load_profile("fast")  # --hypothesis-profile=ci, long or nightly for more; tests/amounts.py

PATIENT_SECONDS = 60
_ALL_SLOW = re.compile(r"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)
_GUARD = NetworkGuard()
_GUARD.install()

gc.disable()  # what is imported now stays; see pytest_collection_finish


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the order of files be another: no test may need what an earlier file left behind."""
    parser.addoption("--shuffle-files", type=int, metavar="SEED", help="run files in another order")


def pytest_configure() -> None:
    """Let what is logged be plain: with colours and variables, an exception takes a second."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(
                colors=False, exception_formatter=structlog.dev.plain_traceback
            ),
        ]
    )


def pytest_collection_finish() -> None:
    """Let the collector see only what tests make: modules and tests are a million objects."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 50)
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests are all slow where none of these is run."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return _ALL_SLOW.search(collection_path.read_text("utf-8")) is not None or None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> pytest.Item | list[pytest.Item] | None:
    """Make one item of a table's rows, and none that is left out: there would be thousands."""
    if not (inspect.isfunction(obj) and isinstance(collector, pytest.Module)):
        return None
    config = collector.config
    if config.option.markexpr == "not slow" and _is_slow(obj):
        return []
    if not collector.istestfunction(obj, name) or chooses_rows(config.args, config.option.keyword):
        return None
    return whole_table(collector, name, obj)


def _is_slow(test: FunctionType) -> bool:
    return any(mark.name == "slow" for mark in vars(test).get("pytestmark", ()))


@pytest.hookimpl(trylast=True)  # when those are gone that nobody asked for
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take long: side by side, the quick ones fill up the end."""
    seed: int | None = config.getoption("--shuffle-files")
    if seed is not None:
        items.sort(key=lambda item: random.Random(f"{seed} {item.path.name}").random())
        return
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def network_guard() -> Iterator[NetworkGuard]:
    """The guard of the whole run; every test fails that left loopback."""
    with _GUARD.watching():
        yield _GUARD


@pytest.fixture
def clock() -> FixedClock:
    """A clock that the test moves by hand."""
    return FixedClock()


@pytest.fixture
def ids() -> CountingIds:
    """Ids that count up from one."""
    return CountingIds()


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The connection string of an Azurite which lives as long as the run; take a new container."""
    with peers.running_azurite(tmp_path_factory.mktemp("azurite")) as connection_string:
        yield connection_string


@pytest.fixture
def patient_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take an Azurite on a busy machine for slow, not for down, where none is ever down."""
    monkeypatch.setattr(azure_client, "READ_LIMIT_SECONDS", PATIENT_SECONDS)
    monkeypatch.setattr(azure_client, "OPERATION_LIMIT_SECONDS", PATIENT_SECONDS)


@pytest.fixture(scope="session")
def azure_accounts(azurite: str) -> Iterator[str]:
    """Accounts for servers, each given once: two servers of one account work for each other."""
    return peers.more_accounts(azurite)


@pytest.fixture(scope="session")
def azurite_account(azurite: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The connection string of an account with blobs and queues; take a new queue."""
    with peers.running_azurite_queue(tmp_path_factory.mktemp("azurite-queue")) as queues:
        yield f"{azurite}{queues}"


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Debian's browser, for playwright's `executable_path`."""
    return peers.chromium_program()


@pytest.fixture(scope="session")
def small_model() -> Path:
    """The weights of a real language model which is nearly always wrong."""
    return peers.model_file()

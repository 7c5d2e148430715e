"""A process names itself, and knows of its neighbours whether they are dead."""

import subprocess
import sys
import time

import pytest

from services.basis import Replica

PRINT_NAME = "from services.basis import Replica; print(Replica().name, flush=True); input()"


def test_no_two_share_a_name() -> None:
    assert len({Replica().name for _ in range(100)}) == 100


def test_nobody_takes_itself_for_dead() -> None:
    here = Replica()
    assert not here.is_dead(here.name)


def test_an_earlier_life_of_the_same_process_number_is_dead() -> None:
    assert Replica().is_dead(Replica().name)


def test_a_neighbour_is_alive_until_it_is_killed() -> None:
    neighbour = subprocess.Popen(
        [sys.executable, "-c", PRINT_NAME], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert neighbour.stdout is not None
    name, here = neighbour.stdout.readline().strip(), Replica()
    assert not here.is_dead(name)
    neighbour.kill()
    # Its files close a moment before it is gone; nobody reaps it meanwhile.
    while not here.is_dead(name):
        time.sleep(0.01)
    neighbour.communicate()
    assert here.is_dead(name)


@pytest.mark.parametrize("name", ["", "elsewhere", "a/b/c", "host:boot:ns/1/abc", "///"])
def test_of_a_stranger_nothing_is_known(name: str) -> None:
    assert not Replica().is_dead(name)

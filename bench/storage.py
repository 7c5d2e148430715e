"""What a turn asks of storage, counted in a server that is not timed."""

from collections import Counter
from collections.abc import Sequence

from bench.chat import Chat, chatting
from bench.counted_server import Tally
from bench.figures import Figure, info, p50
from bench.sections import Bench, history_name

_WARM_TURNS = 2


async def operations(bench: Bench) -> list[Figure]:
    """Operations and bytes of a follow-up turn: claim, audit and release included."""
    figures: list[Figure] = []
    for size in bench.effort.histories:
        async with chatting(bench.session, bench.server.url, history_name(size)) as chat:
            tallies = await _tallies(bench, chat)
        figures += _steady(bench.place, size, tallies)
    return figures


async def _tallies(bench: Bench, chat: Chat) -> list[Tally]:
    found = []
    for _ in range(_WARM_TURNS + bench.effort.rounds):
        await bench.say(chat)
        # The release follows the turn's last event.
        await bench.settle()
        found.append(Tally(**await bench.server.peer.ask({})))
    return found[_WARM_TURNS:]


def _steady(place: str, size: int, tallies: Sequence[Tally]) -> list[Figure]:
    name = f"{size:,} earlier messages"
    totals = [sum(tally.operations.values()) for tally in tallies]
    kinds = sum((Counter(tally.operations) for tally in tallies), Counter[str]())
    spread = ", ".join(f"{kind} {n / len(tallies):.2g}" for kind, n in kinds.most_common())
    written = p50([tally.bytes_written for tally in tallies])
    read = p50([tally.bytes_read for tally in tallies])
    return [
        Figure(place, f"{name}: storage operations p50", p50(totals), "", 4, kind="count"),
        info(place, f"  mean: {spread}", sum(totals) / len(totals), ""),
        Figure(place, f"{name}: bytes written p50", written, "B", 100_000, kind="count"),
        info(place, f"{name}: bytes read p50", read, "B"),
    ]

"""How soon a run is seen at another replica, and what that costs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Times in seconds.

    Attributes:
        tick: How often a replica that runs turns considers whether to look at its signal.
        young: A turn that is younger makes nobody look.
        signal: While an older one runs, the signal is looked at so often: one read a replica.
        left: So long after its last watcher left a run, every tick looks: he is likely to come
            back elsewhere.
        batch: Events of a watched run are written down so often, while there are any.
        kept: A journal outlives its run by so much, for those who have not read its end.
        poll: How often a journal is read where it is watched.
        silence: After so long without news it is asked whether the turn still runs.
        last_words: A turn that is found over may have said something that is still on its way.
        deserted: A run that nobody watches any more is read for so long.
    """

    tick: float = 0.25
    young: float = 1.0
    signal: float = 1.0
    left: float = 5.0
    batch: float = 0.3
    kept: float = 10.0
    poll: float = 0.25
    silence: float = 1.5
    last_words: float = 0.5
    deserted: float = 5.0

"""Effects for tests: each is another change, unless a test says that it is the same."""

from itertools import count

from data_models.conversations.conversation import Effect

_numbers = count(1)


def fresh() -> Effect:
    """A change that nobody has begun before."""
    return Effect(f"change-{next(_numbers)}")

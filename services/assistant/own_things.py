"""What all of a person's own things have in common, said without naming a product."""

from typing import Protocol, TypeVar

Thing_co = TypeVar("Thing_co", covariant=True)


class OwnThings(Protocol[Thing_co]):
    """One person's things of one kind. Every method raises `AssistantError` if it cannot be used.

    What pages follows its pages until a `limit` is reached. What is changed and is gone is an
    `AssistantItemGoneError`; what is made is made once under the key of its `effect`.
    """

    async def get(self, thing_id: str, /) -> Thing_co | None:
        """Return one of them, whole, or None if it is gone."""
        ...

    async def delete(self, thing_id: str, /) -> bool:
        """Remove one of them; False if it was gone already."""
        ...

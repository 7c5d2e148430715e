"""One structured question to a language model, said without naming a library."""

from typing import Protocol, TypeVar

from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)


class StructuredModel(Protocol):
    """Answers with an instance of a pydantic model, or raises."""

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        """Return the model's answer to `text` under `instructions`.

        One repair attempt is made when the output does not validate, but none of a reading that
        rules can do as well. `purpose` is a constant name for metrics, such as `patient_context`.

        Raises:
            ModelError: unreachable, refused, too slow, or still not of the shape.
        """
        ...

"""What documents, arguments and answers are made of: values that do not change."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A value; fields that it does not know are left out."""

    model_config = ConfigDict(frozen=True)


class ClosedValue(Value):
    """A value from outside: a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")

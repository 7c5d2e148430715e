"""Reads YAML as plain values."""

from typing import Any

import yaml

# Both are safe. The one in C takes a tenth of the time; PyYAML can be built without it.
_LOADER: type[yaml.SafeLoader] = vars(yaml).get("CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str | bytes) -> Any:
    """Return what `text` holds.

    Raises:
        yaml.YAMLError: it is no YAML.
    """
    return yaml.load(text, Loader=_LOADER)  # noqa: S506

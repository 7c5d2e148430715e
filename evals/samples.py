"""Folders of patients for a server: the project's own, made ones, or any folder of FHIR."""

from pathlib import Path

from data_models.errors import ConfigurationError
from evals.server import ROOT

DEFAULT = ROOT / "samples"
SYNTHETIC = ROOT / "evals" / "synthetic"
"""Eight small charts that a program made up: asked about without anybody's data."""


def samples_folder(name: str) -> Path:
    """Return the folder that `SAMPLES_DIR` names for cases of `name`.

    Raises:
        ConfigurationError: there is no such folder.
    """
    known = {"default": DEFAULT, "synthetic": SYNTHETIC}
    folder = known.get(name, ROOT / name)  # a whole path stays as it is
    if not folder.is_dir():
        raise ConfigurationError(f"--samples: {folder} is no folder. Example: --samples ../charts")
    return folder

"""Folders of patients for a server: the project's own, made ones, or any folder of FHIR."""

from pathlib import Path

from data_models.errors import ConfigurationError
from evals.chart_questions.synthetic import write_charts
from evals.server import ROOT

DEFAULT = ROOT / "samples"
SYNTHETIC_SEED = 20


def samples_folder(name: str, scratch: Path) -> Path:
    """Return the folder that `SAMPLES_DIR` names for cases of `name`.

    Raises:
        ConfigurationError: there is no such folder.
    """
    if name == "default":
        return DEFAULT
    if name == "synthetic":
        return synthetic_folder(scratch)
    folder = ROOT / name  # a whole path stays as it is
    if not folder.is_dir():
        raise ConfigurationError(f"--samples: {folder} is no folder. Example: --samples ../charts")
    return folder


def synthetic_folder(scratch: Path) -> Path:
    """Return a folder of made charts, the same ones each time."""
    folder = scratch / "synthetic"
    if not folder.exists():
        write_charts(folder, seed=SYNTHETIC_SEED)
    return folder

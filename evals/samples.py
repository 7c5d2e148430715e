"""Folders of patients for a server: the project's own, made ones, or any folder of FHIR."""

import gzip
from pathlib import Path

from data_models.errors import ConfigurationError
from evals.chart_questions.charts import resources_of
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
    folder = Path(name)
    if not folder.is_dir():
        raise ConfigurationError(f"--samples: {folder} is no folder. Example: --samples ../charts")
    return folder if (folder / "patients").is_dir() else _unpacked(folder, scratch)


def _unpacked(folder: Path, scratch: Path) -> Path:
    """Return a copy in which each chart's file bears the id of its patient."""
    target = scratch / f"unpacked-{folder.name}" / "patients"
    if target.exists():
        return target.parent
    target.mkdir(parents=True)
    for file in sorted(one for one in folder.rglob("*.json*") if one.is_file()):
        rows = list(resources_of(file))
        whose = [row for row in rows if row.get("resourceType") == "Patient"]
        if len(whose) == 1:
            raw = file.read_bytes()
            text = gzip.decompress(raw) if file.name.endswith(".gz") else raw
            (target / f"{whose[0]['id']}.json").write_bytes(text)
    for other in ("scheduling", "assistant", "scenarios"):
        (target.parent / other).symlink_to(DEFAULT / other)
    return target.parent


def synthetic_folder(scratch: Path) -> Path:
    """Return a folder of made charts, the same ones each time."""
    folder = scratch / "synthetic"
    if not folder.exists():
        write_charts(folder, seed=SYNTHETIC_SEED)
    return folder

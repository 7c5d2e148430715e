"""What the settings say stands beside the chart."""

from data_models.clock import Clock
from services.evidence.guidelines.library import GuidelineFolder
from settings import Settings


def guidelines_for(settings: Settings, *, clock: Clock) -> GuidelineFolder:
    """Return the folder of `GUIDELINES_DIR`; where people only try Rounds, invented samples."""
    folder = settings.guidelines_dir
    if folder is None and settings.is_trial:
        folder = settings.samples_part("guidelines")
    return GuidelineFolder(folder=folder, clock=clock)

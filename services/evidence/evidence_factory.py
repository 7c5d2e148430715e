"""What the settings say stands beside the chart."""

import aiohttp

from data_models.clock import Clock
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.trials.sources import ClinicalTrialsGov, StudyFolder, StudySource
from settings import Settings


def guidelines_for(settings: Settings, *, clock: Clock) -> GuidelineFolder:
    """Return the folder of `GUIDELINES_DIR`; where people only try Rounds, invented samples."""
    folder = settings.guidelines_dir
    if folder is None and settings.is_trial:
        folder = settings.samples_part("guidelines")
    return GuidelineFolder(folder=folder, clock=clock)


def studies_for(settings: Settings, *, session: aiohttp.ClientSession) -> StudySource:
    """Return the register of `TRIALS_BASE_URL`, else the folder of `TRIALS_DIR`.

    Where people only try Rounds and neither is set, invented samples.
    """
    if settings.trials_base_url is not None:
        return ClinicalTrialsGov(base_url=settings.trials_base_url, session=session)
    folder = settings.trials_dir
    if folder is None and settings.is_trial:
        folder = settings.samples_part("studies")
    return StudyFolder(folder=folder)

"""The choice of patients as the settings ask for it."""

from data_models.clock import Clock, IdSource
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import Directory
from services.identity.identity_factory import linker_for
from services.language.reader import ReaderTeam
from services.model_port import StructuredModel
from services.patient_context.analyzer import PatientContextAnalyzer
from services.patient_context.beside import NamesBeside, StaffOfRecord
from services.patient_context.pattern import PatientIdPattern
from services.patient_context.service import PatientContextService
from services.records.ports import PatientRecords
from settings import Settings


def patients_for(
    settings: Settings,
    *,
    model: StructuredModel | None,
    team: ReaderTeam,
    pattern: PatientIdPattern,
    directory: Directory,
    clock: Clock,
    ids: IdSource,
    guard: ChartGuard,
    records: PatientRecords,
    contacts: NamesBeside,
) -> PatientContextService:
    """Return the service that decides whose chart a message is for, asking `guard` for each.

    Args:
        records: Name the staff of a chart.
        contacts: The address books of users.
    """
    return PatientContextService(
        analyzer=PatientContextAnalyzer(model=model, pattern=pattern, team=team),
        pattern=pattern,
        clock=clock,
        ids=ids,
        linker=linker_for(settings, directory=directory, fits=pattern.matches),
        allow_unknown=settings.allow_unknown_patients,
        guard=guard,
        beside=(StaffOfRecord(records=records).names, contacts),
    )

"""What the operator says about the bot."""

from dataclasses import dataclass, field
from typing import Literal

from settings import Settings


@dataclass(frozen=True, slots=True)
class BotConfig:
    """The bot's registration, and who may use it.

    Attributes:
        app_id: None: loopback callers only, which settings allow in dev only.
        directory: Where the bot's own tokens come from; None: the Bot Framework's.
        tenants: Directories whose users may write; `*`: all.
        users: Object ids of users who may write; `*`: all.
        patient_id_example: For the welcome.
        key_metadata_url: Tells where the keys are that sign the channels' tokens.
    """

    app_id: str | None = None
    app_password: str = field(default="", repr=False)
    app_type: Literal["MultiTenant", "SingleTenant", "UserAssignedMSI"] = "MultiTenant"
    directory: str | None = None
    tenants: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    service_url_hosts: tuple[str, ...] = ()
    link_hosts: tuple[str, ...] = ()
    patient_id_example: str = "patient_4"
    key_metadata_url: str = "https://login.botframework.com/v1/.well-known/openidconfiguration"


def bot_config(settings: Settings, *, patient_id_example: str) -> BotConfig:
    """Return the part of `settings` that is the bot's."""
    tenant, password = settings.microsoft_app_tenant_id, settings.microsoft_app_password
    single = settings.microsoft_app_type == "SingleTenant"
    return BotConfig(
        app_id=settings.microsoft_app_id,
        app_password=password.get_secret_value() if password else "",
        app_type=settings.microsoft_app_type,
        directory=tenant if single else None,
        tenants=(*settings.additional_allowed_tenant_ids, *([tenant] if tenant else [])),
        users=settings.additional_allowed_user_ids,
        service_url_hosts=settings.bot_service_url_hosts,
        link_hosts=settings.link_allow_list,
        patient_id_example=patient_id_example,
    )

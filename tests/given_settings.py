"""Settings of given variables alone: the environment is not asked, which takes most of the time."""

from typing import Any

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from settings import Settings


class _Given(Settings):
    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def given_settings(**values: Any) -> Settings:
    """Return the checked settings of an environment that holds these alone."""
    return _Given(**values)

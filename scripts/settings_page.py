"""Makes `docs/settings.md` from `settings.py`: `python -m scripts.settings_page`."""

from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"

_HEAD = """# Settings

Read once at start from the environment, then from `.env` for what the environment does not
say; an empty value counts as unset, and names are case-sensitive. A bad value stops the start with
its name, the problem and an example. Secrets are never shown. This page is made by
`python -m scripts.settings_page`.

| variable | meaning | default | example |
|---|---|---|---|
"""


def settings_page() -> str:
    """Return the page for the settings as they are now."""
    return _HEAD + "".join(_row(field) for field in Settings.model_fields.values())


def _row(field: FieldInfo) -> str:
    example = (field.examples or [""])[0]
    return f"| `{field.alias}` | {field.description} | {_shown(field.default)} | `{example}` |\n"


def _shown(default: object) -> str:
    if default is None or default == () or isinstance(default, SecretStr):
        return "unset"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return "`" + ",".join(map(str, default)) + "`"
    if isinstance(default, float):
        return f"{default:g}"
    return f"`{default}`" if isinstance(default, str) else str(default)


def main() -> None:
    """Write the page."""
    PAGE.write_text(settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Writes the Teams app package: `python -m infra.teams.package --bot-id ID --site https://…`.

One package for each bot. The team's own bot needs no name; `--bot Radiology=ID` adds the bot of
one agent, which listens at `/api/Radiology/messages` and has a registration of its own: the server
knows it by `AGENT_BOTS__RADIOLOGY__APP_ID`, the same id.
"""

import argparse
import io
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from group_chat.tools.catalogue import TOOL_NAMES
from services.team import Team, load_team

SCHEMA_VERSION = "1.25"
COLOR_FILE, OUTLINE_FILE = "color.png", "outline.png"
_SCOPES = ["personal", "groupChat", "team"]
_SIGN_IN_HOST = "token.botframework.com"
"""Where the sign-in button leads; Teams opens no other host."""
_WHAT = "Asks a team of agents about one patient at a time; every answer names its sources."


@dataclass(frozen=True, slots=True)
class TeamsApp:
    """What differs between installations.

    Attributes:
        bot_id: The app id of the bot's registration.
        site: Where the operator answers for the server, https.
        agent: Who is spoken to; None for the whole team.
        sign_in: The application that users sign in for, by its id; None: they are not asked to.
        copilot: Offered in Microsoft 365 Copilot too, as a custom engine agent.
    """

    bot_id: str
    site: str
    version: str
    developer: str
    patient_id_example: str = "patient_4"
    agent: str | None = None
    about: str = ""
    sign_in: str | None = None
    copilot: bool = False

    @property
    def name(self) -> str:
        """What Teams calls it, at most 30 characters."""
        return "Rounds" if self.agent is None else f"Rounds {self.agent}"[:30]


def manifest(app: TeamsApp) -> dict[str, Any]:
    """Return the manifest of `app`."""
    host = app.site.removeprefix("https://").partition("/")[0]
    resource = f"api://botid-{app.sign_in}"
    sign_in = {} if app.sign_in is None else {"id": app.sign_in, "resource": resource}
    engine = {"type": "bot", "id": app.bot_id}
    return {
        **({"webApplicationInfo": sign_in} if sign_in else {}),
        **({"copilotAgents": {"customEngineAgents": [engine]}} if app.copilot else {}),
        "$schema": "https://developer.microsoft.com/en-us/json-schemas/teams/"
        f"v{SCHEMA_VERSION}/MicrosoftTeams.schema.json",
        "manifestVersion": SCHEMA_VERSION,
        "version": app.version,
        "id": app.bot_id,
        "developer": {
            "name": app.developer,
            "websiteUrl": app.site,
            "privacyUrl": f"{app.site}/privacy",
            "termsOfUseUrl": f"{app.site}/terms",
        },
        "name": {"short": app.name, "full": f"{app.name}: agents for your patients"},
        "description": {"short": (app.about or _WHAT)[:80], "full": app.about or _WHAT},
        "icons": {"color": COLOR_FILE, "outline": OUTLINE_FILE},
        "accentColor": "#5b5fc7",
        "bots": [
            {
                "botId": app.bot_id,
                "scopes": [*_SCOPES, *(["copilot"] if app.copilot else [])],
                "isNotificationOnly": False,
                "supportsFiles": True,
                "supportsCalling": False,
                "supportsVideo": False,
                "commandLists": [{"scopes": _SCOPES, "commands": _commands(app)}],
            }
        ],
        "permissions": ["identity", "messageTeamMembers"],
        "validDomains": [host, *([_SIGN_IN_HOST] if sign_in else [])],
        "defaultInstallScope": "personal",
        "defaultGroupCapability": {"team": "bot", "groupchat": "bot"},
    }


def _commands(app: TeamsApp) -> list[dict[str, str]]:
    example = app.patient_id_example
    return [
        {
            "title": f"start tumor board for {example}",
            "description": "The team makes a plan, and waits for your yes",
        },
        {
            "title": "which patients have we discussed?",
            "description": "Who this conversation is about",
        },
        {
            "title": "clear patient context",
            "description": "Archive everything and begin anew",
        },
    ]


ICONS = Path(__file__).resolve().parent
ROOT = ICONS.parents[1]
# The same bytes on every day, so that a package can be compared with another.
_MADE_AT = (2020, 1, 1, 0, 0, 0)


def package(app: TeamsApp) -> bytes:
    """Return the package of `app`, a zip of the manifest and both icons."""
    files = {
        "manifest.json": orjson.dumps(manifest(app), option=orjson.OPT_INDENT_2),
        **{name: (ICONS / name).read_bytes() for name in (COLOR_FILE, OUTLINE_FILE)},
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _MADE_AT), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def apps(arguments: argparse.Namespace, team: Team) -> list[TeamsApp]:
    """Return the apps that the arguments ask for.

    Raises:
        ValueError: an id is no GUID, or an agent is not in the team.
    """
    about = {agent.name: agent.description for agent in team.agents}
    asked: list[tuple[str | None, str]] = [(None, arguments.bot_id)] if arguments.bot_id else []
    asked += [(name, bot_id) for name, _, bot_id in (one.partition("=") for one in arguments.bot)]
    for name, _ in asked:
        if name is not None and name not in about:
            raise ValueError(f"{name} is none of the team: {', '.join(about)}")
    return [
        TeamsApp(
            bot_id=str(UUID(bot_id)),
            site=_site(arguments.site),
            version=_version(),
            developer=arguments.developer,
            patient_id_example=arguments.patient_id_example,
            agent=name,
            about=about.get(name or "", ""),
            sign_in=str(UUID(arguments.sign_in)) if arguments.sign_in and name is None else None,
            copilot=arguments.copilot and name is None,
        )
        for name, bot_id in asked
    ]


def main(argv: Sequence[str]) -> int:
    """Write the packages; 2 if an argument cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        wanted = apps(arguments, load_team(tools=TOOL_NAMES))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not wanted:
        sys.stderr.write("--bot-id or --bot is needed\n")
        return 2
    arguments.out.mkdir(parents=True, exist_ok=True)
    for app in wanted:
        path = arguments.out / f"{app.name.lower().replace(' ', '-')}.zip"
        path.write_bytes(package(app))
        sys.stdout.write(f"{path}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra.teams.package", description=__doc__)
    parser.add_argument("--bot-id", help="app id of the team's bot")
    parser.add_argument("--bot", action="append", default=[], metavar="AGENT=ID")
    parser.add_argument("--site", required=True, help="https address of the server's operator")
    parser.add_argument(
        "--sign-in", metavar="ID", help="application that users of the team's bot sign in for"
    )
    parser.add_argument(
        "--copilot", action="store_true", help="offer the team's bot in Microsoft 365 Copilot too"
    )
    parser.add_argument("--developer", default="Rounds", help="who runs it, for Teams' app page")
    parser.add_argument("--patient-id-example", default="patient_4")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "teams")
    return parser


def _site(address: str) -> str:
    if not address.startswith("https://"):
        raise ValueError("--site must begin with https://, such as https://rounds.example.org")
    return address.rstrip("/")


def _version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

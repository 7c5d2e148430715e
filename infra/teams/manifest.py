"""The manifest of the Teams app: one bot, for one person, group chats and teams."""

from dataclasses import dataclass
from typing import Any

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

"""Registers the page's sign-in with Microsoft Entra ID, after the first `azd provision`.

Makes (or finds) one application, lets in whom `ROUNDS_BOT_USERS` and `ROUNDS_OPERATORS` name and
nobody else, and hands its id and secret to `azd`, whose next provisioning sets `AUTH_MODE=oidc`.
Repeated, it changes nothing that is right. Needs `az` and `azd`, signed in as somebody who may
register applications, and none of our packages.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

GRAPH = "https://graph.microsoft.com/v1.0/servicePrincipals"
ANY_ROLE = "00000000-0000-0000-0000-000000000000"
VALID_YEARS = "1"


class CloudToolError(Exception):
    """`az` or `azd` is missing or refused; the text is theirs, and holds no secret."""


def run(*command: str) -> Any:
    """Return what the command prints, read as JSON where it is.

    Raises:
        CloudToolError: it failed.
    """
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CloudToolError(f"{command[0]} is not installed") from None
    if ran.returncode:
        raise CloudToolError(ran.stderr.strip() or f"{' '.join(command[:3])} failed")
    return json.loads(ran.stdout) if ran.stdout.strip().startswith(("{", "[", '"')) else None


def register_application(name: str, redirect: str) -> str:
    """Return the application's id; its only redirect address is `redirect`."""
    found = run("az", "ad", "app", "list", "--filter", f"displayName eq '{name}'")
    if len(found) > 1:
        raise CloudToolError(
            f"there are {len(found)} applications called {name}; remove all but one"
        )
    if not found:
        made = run(
            *("az", "ad", "app", "create", "--display-name", name),
            *("--sign-in-audience", "AzureADMyOrg", "--web-redirect-uris", redirect),
        )
        return str(made["appId"])
    if found[0]["web"]["redirectUris"] != [redirect]:
        run(
            *("az", "ad", "app", "update", "--id", found[0]["appId"]),
            *("--web-redirect-uris", redirect),
        )
    return str(found[0]["appId"])


def let_in(application: str, users: Sequence[str]) -> None:
    """Let these users sign in and no others; everybody of the directory with `*`."""
    found = run("az", "ad", "sp", "list", "--filter", f"appId eq '{application}'")
    principal = (found[0] if found else run("az", "ad", "sp", "create", "--id", application))["id"]
    is_open = "*" in users
    run(
        *("az", "ad", "sp", "update", "--id", principal),
        *("--set", f"appRoleAssignmentRequired={str(not is_open).lower()}"),
    )
    if is_open:
        return
    address = f"{GRAPH}/{principal}/appRoleAssignedTo"
    assigned = run("az", "rest", "--method", "GET", "--url", f"{address}?$top=999")["value"]
    rows = {row["principalId"].lower(): row["id"] for row in assigned}
    for user in users:
        if user.lower() not in rows:
            body = {"principalId": user, "resourceId": principal, "appRoleId": ANY_ROLE}
            run("az", "rest", "--method", "POST", "--url", address, "--body", json.dumps(body))
    for user, row in rows.items():
        if user not in {each.lower() for each in users}:
            run("az", "rest", "--method", "DELETE", "--url", f"{address}/{row}")


def keep(**values: str) -> None:
    """Have `azd` keep the values, by a file of ours: arguments are seen by whoever lists processes.

    Raises:
        CloudToolError: it did not.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "sign-in.env"
        file.touch(0o600)
        # In single quotes nothing is expanded.
        lines = (f"{name}='{value}'\n" for name, value in values.items())
        file.write_text("".join(lines), "utf-8")
        run("azd", "env", "set", "--file", str(file))


def main() -> int:
    """Register; 2 with a sentence if it cannot be done."""
    given = {
        name: os.environ.get(name, "")
        for name in ("AZURE_ENV_NAME", "ROUNDS_URL", "ROUNDS_BOT_USERS")
    }
    missing = [name for name, value in given.items() if not value]
    if missing:
        sys.stderr.write(f"rounds: the sign-in needs {', '.join(missing)}: azd provision first\n")
        return 2
    names = f"{given['ROUNDS_BOT_USERS']},{os.environ.get('ROUNDS_OPERATORS', '')}"
    users = sorted({name.strip() for name in names.split(",") if name.strip()})
    try:
        application = register_application(
            f"rounds-{given['AZURE_ENV_NAME']}", f"{given['ROUNDS_URL'].rstrip('/')}/auth/callback"
        )
        let_in(application, users)
        if os.environ.get("ROUNDS_OIDC_CLIENT_ID") != application:
            secret = run(
                *("az", "ad", "app", "credential", "reset", "--id", application, "--append"),
                *("--display-name", "rounds", "--years", VALID_YEARS),
            )["password"]
            keep(ROUNDS_OIDC_CLIENT_ID=application, ROUNDS_OIDC_CLIENT_SECRET=secret)
    except CloudToolError as error:
        sys.stderr.write(f"rounds: the sign-in is not registered: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

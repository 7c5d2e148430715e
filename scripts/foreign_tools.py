"""Shows what another system's server says of its tools: `python -m scripts.foreign_tools URL`.

An operator reads it and copies what agents may use into the file of `MCP_SERVERS`; the digest
stands for what was read. A bearer token is taken from the file that a second argument names.
"""

import asyncio
import sys
from pathlib import Path

import aiohttp
import yaml

from data_models.errors import ToolInputError
from services.evidence.foreign_client import ForeignClient, digest_of


async def listing(url: str, token: str | None) -> str:
    """Return the tools as YAML; `asks` holds all arguments, for the operator to sort."""
    async with aiohttp.ClientSession(trust_env=False) as session:
        offered = await ForeignClient(url=url, session=session, token=token).list_tools()
    rows = [
        {
            "name": one.name,
            "about": (one.description or "")[:300],
            "digest": digest_of(one),
            "asks": {
                name: str(shape.get("description") or shape.get("type") or "")
                for name, shape in one.inputSchema.get("properties", {}).items()
            },
        }
        for one in offered
    ]
    return yaml.safe_dump({"tools": rows}, sort_keys=False, allow_unicode=True)


def main(arguments: list[str]) -> int:
    """Print the tools of the server that the arguments name."""
    if len(arguments) not in (1, 2):
        print("usage: python -m scripts.foreign_tools URL [TOKEN-FILE]", file=sys.stderr)
        return 2
    token = Path(arguments[1]).read_text("ascii").strip() if len(arguments) > 1 else None
    try:
        print(asyncio.run(listing(arguments[0], token)), end="")
    except ToolInputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Asks a model's server whether it would serve us, without spending tokens."""

import asyncio

import httpx2
import openai
from openai import AsyncOpenAI

from data_models.errors import ModelError
from group_chat.models.faults import FOREIGN, fault_of

PROBE_LIMIT_SECONDS = 5.0


async def probe(client: AsyncOpenAI) -> None:
    """List the server's models; a server that has no such list but answers will do.

    Raises:
        ModelError: it cannot be reached, fails, or does not accept our key.
    """
    try:
        async with asyncio.timeout(PROBE_LIMIT_SECONDS):
            response = await client.get("/models", cast_to=httpx2.Response)
            await response.aclose()
    except openai.NotFoundError:
        return
    except ModelError:
        raise
    except FOREIGN as error:
        raise fault_of(error).error from None  # the cause may carry the server's own text

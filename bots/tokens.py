"""Where the token comes from that a reply carries."""

from typing import Protocol


class TokenSource(Protocol):
    """Gives the token that a reply carries."""

    async def token(self) -> str | None:
        """Return a token, or None where the channel asks for none.

        Raises:
            ChannelUnavailableError: none can be had at the moment.
        """
        ...

    def renew(self) -> None:
        """Forget the token that is kept: the channel would not have it."""
        ...


class NoTokens:
    """For the Emulator and the Playground, which ask for none."""

    async def token(self) -> str | None:
        return None

    def renew(self) -> None:
        """See `TokenSource.renew`."""

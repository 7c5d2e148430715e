"""Headers on every answer (spec page 7, R49)."""

from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "require-trusted-types-for 'script'",
    )
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Frame-Options": "DENY",
    hdrs.SERVER: "Rounds",
}
_TWO_YEARS = "max-age=63072000"


def security_headers(
    *, https: bool
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Return the signal for `app.on_response_prepare`; sockets and errors pass it too.

    Args:
        https: Whether browsers reach the server by https only.
    """

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(_HEADERS)
        if https:
            response.headers["Strict-Transport-Security"] = _TWO_YEARS
        if request.path.startswith("/api/"):
            response.headers[hdrs.CACHE_CONTROL] = "no-store"

    return add

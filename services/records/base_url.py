"""The address of a FHIR server, as an operator writes it."""

import ipaddress

from yarl import URL

from data_models.errors import ConfigurationError

_EXAMPLE = "such as https://fhir.hospital.example/r4"


def checked_base_url(text: str) -> URL:
    """Return `text` as the base URL of a FHIR server.

    Raises:
        ConfigurationError: it is not a plain https address; http is for loopback only, because
            the token would travel readable.
    """
    try:
        url = URL(text.rstrip("/"))
    except ValueError:
        raise ConfigurationError(f"FHIR_BASE_URL is no address; set one {_EXAMPLE}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(f"FHIR_BASE_URL must begin with https://, {_EXAMPLE}")
    if url.user or url.password or url.query_string or url.fragment:
        raise ConfigurationError(f"FHIR_BASE_URL must be a plain address, {_EXAMPLE}")
    if url.scheme == "http" and not _is_loopback(url.host):
        raise ConfigurationError(f"FHIR_BASE_URL must use https, {_EXAMPLE}")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

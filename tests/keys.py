"""Keys of fakes that sign, each made once a process, when it is first asked for."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key


@cache
def rsa_key(name: str) -> RSAPrivateKey:
    """Return the key of this name; whoever asks for it gets the same."""
    return generate_private_key(65_537, 2_048)


def key_row(name: str, **more: Any) -> dict[str, Any]:
    """Return a key as a server of keys publishes it."""
    row: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key(name).public_key()))
    return row | {"kid": name, "use": "sig"} | more


def signed(
    claims: Mapping[str, Any], *, key: str = "one", alg: str = "RS256", **header: Any
) -> str:
    """Return a token of the `claims` that are not None, by an `alg` of RSA signed with `key`."""
    said = {name: value for name, value in claims.items() if value is not None}
    secret = rsa_key(key) if alg.startswith("RS") else "" if alg == "none" else "k" * 32
    return jwt.encode(said, secret, algorithm=alg, headers={"kid": key} | header)

"""Keys of fakes that sign, each made once a process, when it is first asked for."""

from functools import cache

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key


@cache
def rsa_key(name: str) -> RSAPrivateKey:
    """Return the key of this name; whoever asks for it gets the same."""
    return generate_private_key(65_537, 2_048)

"""One hash for everything that is proven or compared by one: BLAKE2b with 256 bits."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def hasher() -> Callable[[bytes], str]:
    """The function from bytes to hexadecimal digits. The C module itself, since `hashlib` loads a whole library of
    others with it; and when it is asked for, not before."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    def digest(data: bytes) -> str:
        return blake2b(data, digest_size=32).hexdigest()

    return digest

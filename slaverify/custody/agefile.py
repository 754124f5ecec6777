"""Encrypting and decrypting with age, in constant memory.

Boundary: age gives out plaintext before the last chunk proves the stream whole. Here it goes to a temporary file
without a name, which is given up on any error (SLV-K015); nothing of a truncated stream is ever used.

Not pure. Source: C2SP age.md; pyrage.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from slaverify.custody.faults import fault
from slaverify.custody.files import disk_fault
from slaverify.errors import CustodyError, Text

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from pyrage.x25519 import Identity


class _Source(io.BufferedIOBase):
    """A stream that pyrage can read, over pieces made as they are asked for; it counts and digests them."""

    def __init__(self, pieces: Iterable[bytes], limit: int) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self._rest = b""
        self._limit = limit
        self.size = 0
        self.digest = hashlib.sha256()
        self.fault: CustodyError | None = None

    def _next(self) -> bytes | None:
        # pyrage hides what a stream raises behind an error of its own: keep it for `encrypt`.
        try:
            piece = next(self._pieces, None)
            self.size += len(piece or b"")
            if self.size > self._limit:
                raise fault(4, "el paquete supera su tope", "the package is over its cap")
        except CustodyError as error:
            self.fault = error
            raise
        return piece

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes; nothing at the end."""
        while not self._rest:
            piece = self._next()
            if piece is None:
                return b""
            self.digest.update(piece)
            self._rest = piece
        if size is None or size < 0:
            size = len(self._rest)
        out, self._rest = self._rest[:size], self._rest[size:]
        return out


class _Sink(io.BufferedIOBase):
    """A stream that pyrage can write, which digests and refuses to grow beyond its limit."""

    def __init__(self, stream: BinaryIO, limit: int | None = None) -> None:
        super().__init__()
        self._stream = stream
        self._limit = limit
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, data: Buffer, /) -> int:
        """Take `data`. Raises: CustodyError SLV-K015 beyond the limit."""
        data = bytes(data)
        self.size += len(data)
        if self._limit is not None and self.size > self._limit:
            raise fault(15, "el contenido descifrado supera su tope", "the decrypted content is over its cap")
        self.digest.update(data)
        self._stream.write(data)
        return len(data)

    def flush(self) -> None:
        """Pass on what is buffered."""
        self._stream.flush()


def encrypt(pieces: Iterable[bytes], stream: BinaryIO, recipients: Sequence[str], limit: int) -> tuple[str, str]:
    """Encrypt `pieces` into `stream`; return the SHA-256 (hex) of plaintext and ciphertext.

    Raises: CustodyError SLV-K004 if the plaintext is over `limit`, SLV-K005 for a malformed recipient.
    """
    import pyrage

    try:
        keys = [pyrage.x25519.Recipient.from_str(one) for one in recipients]
    except pyrage.RecipientError as error:
        raise fault(5, "destinatario age mal formado", "malformed age recipient") from error
    source, sink = _Source(pieces, limit), _Sink(stream)
    try:
        pyrage.encrypt_io(source, sink, keys)
    except Exception:
        if source.fault is not None:
            raise source.fault from None
        raise
    return source.digest.hexdigest(), sink.digest.hexdigest()


@contextlib.contextmanager
def decrypted(path: Path, identity: str, private: Path, limit: int) -> Iterator[tuple[BinaryIO, str]]:
    """Decrypt a file to a temporary file without a name; give it, at its start, with the SHA-256 (hex) of its content.

    `private` is the folder whose disk it uses. The content is gone when the block ends, and on any error.
    Raises: CustodyError SLV-K015 (wrong identity, truncated or altered, over `limit`), SLV-K071 (identity), SLV-K072.
    """
    import pyrage

    if not identity:
        raise fault(
            71,
            "la identidad age falta o fue destruida",
            "the age identity is missing or was destroyed",
            where=str(path),
        )
    try:
        key = pyrage.x25519.Identity.from_str(identity)
    except pyrage.IdentityError as error:
        raise fault(71, "identidad age mal formada", "malformed age identity") from error
    try:
        # A file without a name: whatever happens, a kill -9 too, nothing of it stays on the disk.
        with tempfile.TemporaryFile(prefix="clear.", dir=private) as clear, path.open("rb") as sealed:
            sink = _Sink(clear, limit)
            _decrypt(sealed, sink, key)
            clear.flush()
            clear.seek(0)
            yield clear, sink.digest.hexdigest()
    except OSError as error:
        raise disk_fault(error, path) from error


def _decrypt(sealed: io.BufferedIOBase, sink: _Sink, key: Identity) -> None:
    import pyrage

    try:
        pyrage.decrypt_io(sealed, sink, [key])
    except Exception as error:
        raise fault(
            15,
            "no se pudo descifrar: otra identidad, o un archivo alterado o cortado",
            "could not decrypt: another identity, or a file altered or cut short",
            fix=Text("nada de su contenido se usó", "nothing of its content was used"),
        ) from error

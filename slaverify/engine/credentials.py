"""Reads secrets where the contract points, and takes them out of everything that is written.

A secret is in one object whose `repr` is `***`; it goes into one header and nowhere else.

Source: docs/spec/run.md, section "Secrets".
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

from slaverify.errors import EndpointError, Text

SHORTEST = 4
"""Shortest secret that is accepted: a shorter one could not be told from ordinary text (convention)."""

_LARGEST_FILE = 65_536


class Secrets:
    """The secrets of a run, by reference. Shown as `***` everywhere."""

    __slots__ = ("__forms", "__values")

    def __init__(self, values: Mapping[str, str]) -> None:
        for reference, value in values.items():
            _check(reference, value)
        self.__values = dict(values)
        self.__forms = tuple(sorted(_forms(values.values()), key=len, reverse=True))

    def header_value(self, scheme: str, reference: str) -> str:
        """Return the value of the authorisation header. Raises: EndpointError SLV-N020 for an unread reference."""
        value = self.__values.get(reference)
        if value is None:
            raise _unreadable(reference, "no se leyó", "was not read")
        return f"{scheme} {value}" if scheme else value

    def redact(self, data: bytes) -> bytes:
        """Return `data` with each secret, and its base64 and URL forms, replaced by `***`."""
        for form in self.__forms:
            if form in data:
                data = data.replace(form, b"***")
        return data

    def redact_text(self, text: str) -> str:
        """Return `text` with the secrets replaced."""
        data = text.encode("utf-8", "surrogatepass")
        clean = self.redact(data)
        return text if clean is data else clean.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("secrets are not serialised")


def read_secrets(references: Iterable[str], environment: Mapping[str, str] | None = None) -> Secrets:
    """Read each reference (`env:NAME`, `file:PATH`, `keyring:NAME`) once.

    Raises: EndpointError SLV-N020 (absent), SLV-N021 (file with other readers, or a link), SLV-N022 (not usable).
    """
    names = os.environ if environment is None else environment
    return Secrets({reference: _read(reference, names) for reference in references})


def _read(reference: str, environment: Mapping[str, str]) -> str:
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = environment.get(name)
    elif kind == "file":
        value = _read_file(reference, name)
    elif kind == "keyring":
        value = _read_keyring(name)
    else:
        raise _unreadable(reference, "no se sabe dónde está", "of an unknown kind")
    if not value:
        raise _unreadable(reference, "no existe o está vacío", "does not exist or is empty")
    return value


def _read_file(reference: str, path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (40, 62):  # ELOOP on Linux and macOS
            raise _exposed(reference, "es un enlace", "is a link") from error
        raise _unreadable(reference, "no se puede leer", "cannot be read") from error
    try:
        # Of the open file, not of the name: nobody can swap it in between.
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise _exposed(reference, "no es un archivo", "is no file")
        if facts.st_mode & 0o177:
            raise _exposed(reference, "lo pueden leer otros", "can be read by others")
        data = os.read(handle, _LARGEST_FILE)
    finally:
        os.close(handle)
    try:
        return data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _unusable(reference) from error


def _read_keyring(name: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password("slaverify", name)
    except KeyringError as error:
        raise _unreadable(f"keyring:{name}", "no se puede leer", "cannot be read") from error


def _check(reference: str, value: str) -> None:
    printable = all("\x20" <= character <= "\x7e" for character in value)
    if len(value) < SHORTEST or not printable or value != value.strip():
        raise _unusable(reference)


def _forms(values: Iterable[str]) -> set[bytes]:
    forms: set[bytes] = set()
    for value in values:
        raw = value.encode("utf-8")
        forms.update((raw, quote(value, safe="").encode(), quote_plus(value).encode()))
        for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
            forms.update((encoded, encoded.rstrip(b"=")))
    return {form for form in forms if len(form) >= SHORTEST}


def _unreadable(reference: str, es: str, en: str) -> EndpointError:
    return EndpointError(
        "SLV-N020",
        Text(f"el secreto {reference} {es}", f"the secret {reference} {en}"),
        fix=Text("defínalo y siga con --resume", "define it and go on with --resume"),
        where=reference,
    )


def _exposed(reference: str, es: str, en: str) -> EndpointError:
    return EndpointError(
        "SLV-N021",
        Text(f"el archivo del secreto {es}", f"the file of the secret {en}"),
        fix=Text("deje el archivo mismo con chmod 600", "leave the file itself with chmod 600"),
        where=reference,
        exit_code=2,
    )


def _unusable(reference: str) -> EndpointError:
    return EndpointError(
        "SLV-N022",
        Text("el secreto no sirve", "the secret cannot be used"),
        why=Text(
            "debe ser texto ASCII visible de al menos 4 caracteres, en una línea",
            "it must be visible ASCII text of at least 4 characters on one line",
        ),
        where=reference,
        exit_code=2,
    )

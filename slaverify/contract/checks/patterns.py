"""Judge single texts: floating aliases, anchored expressions, addresses, paths, things that look like secrets."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from slaverify.contract.tokens import looks_like_token
from slaverify.errors import Text

_FLOATING = frozenset({"latest", "current", "default", "auto", "stable", "main", "nightly", "prod", "production"})
_UNDATED = frozenset({"preview", "exp", "experimental", "beta", "alpha"})
_STEP = re.compile(
    r"\.[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff-]*|\.\*"
    r"|\[(\*|-?[0-9]{1,6}|(-?[0-9]{0,6}):(-?[0-9]{0,6})(:-?[0-9]{0,6})?|'[^'\\]*'|\"[^\"\\]*\")\]"
)
_SCHEME = re.compile(r"^\s*(bearer|basic|token|apikey)\s+\S{6,}", re.IGNORECASE)
_OPAQUE = re.compile(r"^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/=_.-]{24,}$|^(?=.*[0-9])[0-9a-f-]{24,}$")
_SECRET_HEADER = re.compile(r"(authori[sz]ation|api-?key|token|secret|password|cookie|credential)", re.IGNORECASE)
_SECRET_QUERY = re.compile(r"(^|&)(api_?key|access_token|token|key|secret|password|sig)=", re.IGNORECASE)
_NESTED = re.compile(r"\((?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)[+*{]")


def is_floating(version: str) -> bool:
    """Return whether a version text names no fixed thing: an alias, or a bare family name without any digit."""
    words = set(re.split(r"[^a-z0-9]+", version.lower()))
    if words & _FLOATING or not any(character.isdigit() for character in version):
        return True
    return bool(words & _UNDATED) and not re.search(r"[0-9]{4}", version)


def regex_fault(pattern: str) -> Text | None:
    """Return why an expression cannot be used: not valid, not anchored, too long, or able to run for ever."""
    if len(pattern) > 200:
        return Text("más de 200 caracteres", "longer than 200 characters")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return Text("no es una expresión regular válida", "not a valid regular expression")
    if not pattern.startswith("^") or not re.search(r"(?<!\\)(\\\\)*\$$", pattern) or _has_bare_bar(pattern):
        return Text("no está anclada en los dos extremos", "not anchored at both ends")
    if _NESTED.search(pattern):
        return Text("repite dentro de una repetición: puede no terminar", "repeats inside a repeat: it may not end")
    return None


def accepts_anything(pattern: str) -> bool:
    """Return whether an echo expression would accept texts that no engine should declare."""
    return all(re.fullmatch(pattern, text) for text in ("latest", "otro-motor-9", "z"))


def url_fault(url: str, *, plain: bool = False) -> Text | None:
    """Return why an address cannot be called; `plain` allows http anywhere (signed replies alone)."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return Text("no es una dirección válida", "not a valid address")
    if parts.scheme not in ("https", "http"):
        return Text("sólo `https`", "`https` only")
    if not host:
        return Text("falta el nombre del servidor", "the host is missing")
    if parts.username is not None or parts.password is not None:
        return Text("lleva usuario o clave", "it carries a user or a password")
    if parts.fragment or url.endswith("#"):
        return Text("lleva un fragmento `#`", "it carries a fragment `#`")
    if parts.scheme == "http" and not plain and not is_loopback(parts):
        return Text("`http` sólo se permite hacia la propia máquina", "`http` is allowed to loopback only")
    return None


def is_loopback(parts: SplitResult) -> bool:
    """Return whether the host is this machine: `localhost` or a loopback address."""
    host = (parts.hostname or "").rstrip(".")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def path_fault(path: str, *, header: bool = False) -> Text | None:
    """Return why a path cannot be used; `header` allows `header:NAME`. A path relative to a citation may omit `$`.

    Source: RFC 9535, limited to names, indexes, slices and wildcards.
    """
    if path.startswith("header:"):
        if header and re.fullmatch(r"header:[A-Za-z0-9-]{1,64}", path):
            return None
        return Text("un encabezado sólo sirve para la identidad", "a header serves the identity alone")
    rest = path[1:] if path[:1] in ("$", "@") else "." + path
    if ".." in rest or "?" in rest:
        return Text("`..` y los filtros no se permiten", "`..` and filters are not allowed")
    position = 0
    while position < len(rest):
        step = _STEP.match(rest, position)
        if step is None:
            return Text("no es una ruta de RFC 9535", "not an RFC 9535 path")
        position = step.end()
    return None


def secret_header(name: str, value: str) -> bool:
    """Return whether a header carries a secret: by its name, its scheme, or a long opaque value."""
    named = _SECRET_HEADER.search(name) is not None
    return named or any(form.match(value) for form in (_SCHEME, _OPAQUE)) or looks_like_token(value)


def secret_query(url: str) -> bool:
    """Return whether an address carries a secret in its query."""
    try:
        return _SECRET_QUERY.search(urlsplit(url).query) is not None
    except ValueError:
        return False


def _has_bare_bar(pattern: str) -> bool:
    """Return whether `|` stands outside every group: `^a|b$` is anchored on one side of each half only."""
    depth, escaped, in_set = 0, False, False
    for character in pattern:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif in_set:
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "|" and depth == 0:
            return True
    return False

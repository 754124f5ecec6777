"""The engine's identity, its address, the template, the paths, and secrets that stand where none may."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from slaverify.canonical import JsonValue
from slaverify.contract.blocks import Blocks
from slaverify.contract.checks.patterns import (
    accepts_anything,
    is_floating,
    path_fault,
    regex_fault,
    secret_header,
    secret_query,
    url_fault,
)
from slaverify.contract.findings import Finding, Path, dotted, short
from slaverify.contract.model.engine import CitationMapping, Endpoint, MappedField, Regex, ResponseMapping
from slaverify.contract.tokens import looks_like_token
from slaverify.errors import Text

_VARIABLE = re.compile(r"\$?\$\{([^}]*)\}?")
_WHOLE = ("query", "messages", "attachments", "nonce", "request_id")
_TOOLS = ("tools", "turn")
_HEADER_FIELDS = ("version", "fingerprint")


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of engine and endpoint."""
    if blocks.engine is not None:
        engine = blocks.engine
        yield from _version(("engine", "version"), engine.version)
        yield from _echoes(("engine", "accepted_echoes"), engine.accepted_echoes)
        if blocks.judged:
            yield from _judged(engine.family, engine.base_families)
    if blocks.endpoint is None:
        return
    endpoint = blocks.endpoint
    tools = blocks.method is not None and blocks.method.profile == "trajectory@1"
    yield from _urls(endpoint)
    yield from _headers(endpoint)
    yield from _template(("endpoint", "request"), endpoint.request, tools)
    yield from _response(endpoint)
    for name in ("error_texts", "cut_markers"):
        for index, pattern in enumerate(getattr(endpoint, name)):
            if isinstance(pattern, Regex):
                yield from _regex(("endpoint", name, index, "regex"), pattern.regex)
    if endpoint.candidate is not None:
        candidate = endpoint.candidate
        yield from _version(("endpoint", "candidate", "version"), candidate.version)
        yield from _echoes(("endpoint", "candidate", "accepted_echoes"), candidate.accepted_echoes)
        yield from _template(("endpoint", "candidate", "request"), candidate.request, tools)
        yield from address(("endpoint", "candidate", "url"), candidate.url)


def secrets_in(tree: JsonValue, path: Path = ()) -> Iterator[Finding]:
    """Yield every text of the whole tree that has the form of a known kind of secret."""
    if isinstance(tree, dict):
        for key, member in tree.items():
            yield from secrets_in(member, (*path, key))
    elif isinstance(tree, list):
        for index, member in enumerate(tree):
            yield from secrets_in(member, (*path, index))
    elif isinstance(tree, str) and looks_like_token(tree):
        yield _secret(path)


def address(path: Path, url: str, *, plain: bool = False) -> Iterator[Finding]:
    """Yield what is wrong with an address; `plain` allows http anywhere."""
    fault = url_fault(url, plain=plain)
    if fault is not None:
        yield Finding(
            "SLV-C030",
            path,
            Text(f"`{dotted(path)}`: {fault.es}", f"`{dotted(path)}`: {fault.en}"),
            Text("escriba `https://servidor/ruta`", "write `https://host/path`"),
        )
    if secret_query(url):
        yield _secret(path)


def _judged(family: str | None, base: object) -> Iterator[Finding]:
    for key, value in (("family", family), ("base_families", base)):
        if value is None:
            yield Finding(
                "SLV-C010",
                ("engine",),
                Text(f"falta `engine.{key}`", f"`engine.{key}` is missing"),
                Text(
                    "con juez hay que declararla: el juez no puede ser de la familia del motor",
                    "with a judge it has to be declared: the judge may not be of the engine's family",
                ),
                at_key=True,
            )


def _version(path: Path, version: str) -> Iterator[Finding]:
    if is_floating(version):
        yield Finding(
            "SLV-C027",
            path,
            Text(
                f"{short(version)!r} es un alias que cambia solo",
                f"{short(version)!r} is an alias that moves by itself",
            ),
            Text(
                "escriba la versión exacta que responde el motor, por ejemplo `4.2.1` o una fecha",
                "write the exact version that the engine declares, e.g. `4.2.1` or a date",
            ),
        )


def _echoes(path: Path, echoes: Sequence[str | Regex]) -> Iterator[Finding]:
    for index, echo in enumerate(echoes):
        if isinstance(echo, str):
            yield from _version((*path, index), echo)
            continue
        faults = list(_regex((*path, index, "regex"), echo.regex))
        yield from faults
        if not faults and accepts_anything(echo.regex):
            yield Finding(
                "SLV-C027",
                (*path, index, "regex"),
                Text("esta expresión acepta cualquier versión", "this expression accepts any version"),
                Text("nombre la versión dentro de ella", "name the version inside it"),
            )


def _regex(path: Path, pattern: str) -> Iterator[Finding]:
    fault = regex_fault(pattern)
    if fault is not None:
        yield Finding(
            "SLV-C028",
            path,
            Text(f"expresión regular: {fault.es}", f"regular expression: {fault.en}"),
            Text(
                "escríbala como `^…$`, con las alternativas entre paréntesis",
                "write it as `^…$`, alternatives in brackets",
            ),
        )


def _urls(endpoint: Endpoint) -> Iterator[Finding]:
    yield from address(("endpoint", "url"), endpoint.url)
    if endpoint.proxy is not None:
        yield from address(("endpoint", "proxy"), endpoint.proxy, plain=True)
    for index, url in enumerate(endpoint.control_urls):
        yield from address(("endpoint", "control_urls", index), url)
    hosts = {url.split("/")[2].lower() for url in endpoint.control_urls if url.count("/") >= 2}
    if endpoint.control_urls and len(hosts) != 2:
        yield Finding(
            "SLV-C030",
            ("endpoint", "control_urls"),
            Text("se necesitan dos direcciones de servidores distintos", "two addresses of different hosts are needed"),
            Text("agregue la segunda o borre la clave", "add the second one or delete the key"),
            at_key=True,
        )


def _headers(endpoint: Endpoint) -> Iterator[Finding]:
    for name, value in endpoint.headers.items():
        if secret_header(name, value):
            yield _secret(("endpoint", "headers", name))
    if looks_like_token(endpoint.user_agent):
        yield _secret(("endpoint", "user_agent"))


def _secret(path: Path) -> Finding:
    return Finding(
        "SLV-C029",
        path,
        Text(f"`{dotted(path)}` parece un secreto", f"`{dotted(path)}` looks like a secret"),
        Text(
            "bórrelo, cámbielo por uno nuevo y use `endpoint.auth.secret: env:NOMBRE`",
            "delete it, replace it by a new one and use `endpoint.auth.secret: env:NAME`",
        ),
        Text("el contrato lo leen todas las partes", "every party reads the contract"),
    )


def _template(path: Path, tree: JsonValue, tools: bool) -> Iterator[Finding]:
    used: set[str] = set()
    yield from _variables(path, tree, tools, used)
    if not used & {"query", "messages", "turn"}:
        yield Finding(
            "SLV-C034",
            path,
            Text("la plantilla no lleva la pregunta", "the template does not carry the question"),
            Text("ponga `${query}` o `${messages}` donde va", "put `${query}` or `${messages}` where it goes"),
            at_key=True,
        )


def _variables(path: Path, tree: JsonValue, tools: bool, used: set[str]) -> Iterator[Finding]:
    if isinstance(tree, dict):
        for key, member in tree.items():
            if "${" in key:
                yield _variable(path, key, "en una clave", "in a key")
            yield from _variables((*path, key), member, tools, used)
    elif isinstance(tree, list):
        for index, member in enumerate(tree):
            yield from _variables((*path, index), member, tools, used)
    elif isinstance(tree, str):
        yield from _in_text(path, tree, _WHOLE + (_TOOLS if tools else ()), used)


def _in_text(path: Path, text: str, allowed: tuple[str, ...], used: set[str]) -> Iterator[Finding]:
    for match in _VARIABLE.finditer(text):
        if match.group().startswith("$${"):
            continue
        name = match[1]
        if name not in allowed:
            yield _variable(path, name, "desconocida o prohibida", "unknown or forbidden", allowed)
        elif name != "query" and match.group() != text:
            yield _variable(path, name, "sólo puede ser el texto entero", "has to be the whole text")
        used.add(name)


def _variable(path: Path, name: str, es: str, en: str, allowed: tuple[str, ...] = ()) -> Finding:
    listed = ", ".join(f"${{{word}}}" for word in allowed)
    fix = (
        Text(f"use una de: {listed}", f"use one of: {listed}")
        if allowed
        else Text("póngala sola entre comillas", "put it alone in quotes")
    )
    return Finding(
        "SLV-C034",
        path,
        Text(f"variable `{short(name)}` {es}", f"variable `{short(name)}` {en}"),
        fix,
        Text(
            "nada del ítem fuera de la pregunta sale hacia el proveedor",
            "nothing of the item but the question leaves for the vendor",
        ),
    )


def _response(endpoint: Endpoint) -> Iterator[Finding]:
    response = endpoint.response
    if response.answer is None and endpoint.adapter.startswith("json_http@"):
        yield Finding(
            "SLV-C010",
            ("endpoint", "response"),
            Text("falta `endpoint.response.answer`", "`endpoint.response.answer` is missing"),
            Text("diga dónde está la respuesta: `answer: $.answer`", "say where the answer is: `answer: $.answer`"),
            at_key=True,
        )
    for key, path in _paths(response):
        fault = path_fault(path, header=key[0] in _HEADER_FIELDS)
        if fault is not None:
            where: Path = ("endpoint", "response", *key)
            yield Finding(
                "SLV-C035",
                where,
                Text(f"`{dotted(where)}`: {fault.es}", f"`{dotted(where)}`: {fault.en}"),
                Text("nombres, índices, cortes y `*`: `$.a.b[0]`", "names, indexes, slices and `*`: `$.a.b[0]`"),
            )


def _paths(response: ResponseMapping) -> Iterator[tuple[Path, str]]:
    for name, field in ResponseMapping.model_fields.items():
        key = field.alias or name
        value: object = getattr(response, name)
        if isinstance(value, str):
            yield (key,), value
        elif isinstance(value, MappedField):
            yield (key, "path"), value.path
        elif isinstance(value, CitationMapping):
            yield (key, "path"), value.path
            for part, path in value.fields:
                if path is not None:
                    yield (key, "fields", part), path

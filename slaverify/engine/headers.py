"""The headers of a request: a fixed list and those of the contract. Pure.

Source: docs/spec/run.md, section "Request".
"""

from __future__ import annotations

from slaverify.engine.spec import EndpointSpec


def request_headers(spec: EndpointSpec, authorisation: str | None) -> list[tuple[str, str]]:
    """Return the headers that we set, in order; `authorisation` is the value of the contract's own header for it."""
    headers = {
        "Content-Type": "application/json",
        "Accept": spec.adapter.facts.accept,
        "Accept-Encoding": "gzip",
        "User-Agent": spec.user_agent,
    }
    fixed = {name.lower(): name for name in headers}
    for name, value in spec.headers:
        headers[fixed.get(name.lower(), name)] = value
    if spec.auth is not None and authorisation is not None:
        headers[spec.auth.header] = authorisation
    return list(headers.items())

"""Where a request may go: the URL of the contract, and the addresses that its host may resolve to.

Source: docs/spec/run.md, section "Request"; RFC 3986; RFC 6890 for the special-purpose ranges.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

import idna

from slaverify.errors import ContractError, Text

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Address:
    """A checked URL: `host` is ASCII and lower case, `port` explicit, `url` what is requested."""

    url: str
    scheme: str
    host: str
    port: int
    loopback: bool


def parse_address(text: str, *, where: str, networks: tuple[IpNetwork, ...] = ()) -> Address:
    """Check a URL of the contract and return it as parsed.

    Raises: ContractError SLV-C064 (no https URL), SLV-C065 (user, password or fragment), SLV-C066 (private
    address that the contract does not name).
    """
    try:
        parts = urlsplit(text)
        port = parts.port
        host = _ascii_host(parts.hostname or "")
    except (ValueError, UnicodeError) as error:
        raise _refused("SLV-C064", "la dirección no se entiende", "the address cannot be read", where) from error
    if parts.username is not None or parts.password is not None or parts.fragment or "#" in text:
        raise _refused(
            "SLV-C065",
            "la dirección lleva usuario, contraseña o fragmento",
            "the address has a user, a password or a fragment",
            where,
        )
    loopback = is_loopback(host)
    if not host or parts.scheme not in ("https", "http") or (parts.scheme == "http" and not loopback):
        raise _refused(
            "SLV-C064",
            "la dirección debe ser https (http solo hacia la propia máquina)",
            "the address must be https (http only to the own machine)",
            where,
        )
    literal = _literal(host)
    if literal is not None and not loopback and not address_allowed(literal, networks):
        raise _refused(
            "SLV-C066",
            "dirección privada que el contrato no nombra en endpoint.allow_private",
            "private address that the contract does not name in endpoint.allow_private",
            where,
        )
    number = port if port is not None else (443 if parts.scheme == "https" else 80)
    shown = f"[{host}]" if ":" in host else host
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(f"{parts.scheme}://{shown}:{number}{path}", parts.scheme, host, number, loopback)


def parse_networks(texts: tuple[str, ...], *, where: str = "endpoint.allow_private") -> tuple[IpNetwork, ...]:
    """Return the networks that the contract names. Raises: ContractError SLV-C067."""
    try:
        return tuple(ipaddress.ip_network(text, strict=True) for text in texts)
    except ValueError as error:
        raise _refused("SLV-C067", f"no es una red: {error}", f"not a network: {error}", where) from error


def is_loopback(host: str) -> bool:
    """Say whether `host` names the own machine by itself (a literal, or `localhost`)."""
    literal = _literal(host)
    return host == "localhost" if literal is None else literal.is_loopback


def address_allowed(address: IpAddress, networks: tuple[IpNetwork, ...]) -> bool:
    """Say whether a resolved address may be called: a public one, or one in a network of the contract."""
    inner = address
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or address
    if any(candidate in network for candidate in {address, inner} for network in networks):
        return True
    return address.is_global and inner.is_global and not address.is_multicast and not inner.is_multicast


def _ascii_host(host: str) -> str:
    if not host or host.isascii():
        return host.lower().rstrip(".")
    return idna.encode(host, uts46=True).decode("ascii").lower().rstrip(".")


def _literal(host: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _refused(code: str, es: str, en: str, where: str) -> ContractError:
    return ContractError(
        code,
        Text(es, en),
        fix=Text("escriba https://servidor/ruta", "write https://host/path"),
        where=where,
    )

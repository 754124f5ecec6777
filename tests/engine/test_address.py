"""Where a request may go."""

from __future__ import annotations

import ipaddress

import pytest

from slaverify.engine.address import address_allowed, parse_address, parse_networks
from slaverify.errors import ContractError
from tests.engine.endpoints import endpoint_spec


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("http://api.ejemplo.cl/v1", "SLV-C064"),
        ("ftp://127.0.0.1/", "SLV-C064"),
        ("https:///v1", "SLV-C064"),
        ("https://host:99999/", "SLV-C064"),
        ("https://user@api.ejemplo.cl/", "SLV-C065"),
        ("https://user:pass@api.ejemplo.cl/", "SLV-C065"),
        ("https://api.ejemplo.cl/#x", "SLV-C065"),
        ("https://10.1.2.3/", "SLV-C066"),
        ("https://[::ffff:192.168.0.1]/", "SLV-C066"),
        ("https://169.254.169.254/latest", "SLV-C066"),
    ],
)
def test_addresses_that_are_refused(text, code):
    with pytest.raises(ContractError) as caught:
        parse_address(text, where="endpoint.url")
    assert caught.value.code == code


def test_addresses_are_compared_as_parsed():
    assert parse_address("https://API.Ejemplo.CL:443/v1?x=1", where="").url == "https://api.ejemplo.cl:443/v1?x=1"
    assert parse_address("https://ñandú.cl", where="").host == "xn--and-6ma2c.cl"
    assert parse_address("http://[::1]:8080/", where="").loopback


def test_private_networks_only_where_the_contract_names_them():
    networks = parse_networks(("10.0.0.0/8",))
    assert address_allowed(ipaddress.ip_address("10.9.9.9"), networks)
    for text in (
        "10.9.9.9",
        "127.0.0.1",
        "192.168.1.1",
        "169.254.1.1",
        "::1",
        "fe80::1",
        "::ffff:10.0.0.1",
        "224.0.0.1",
    ):
        assert not address_allowed(ipaddress.ip_address(text), ())
    assert address_allowed(ipaddress.ip_address("8.8.8.8"), ())
    with pytest.raises(ContractError):
        parse_networks(("10.0.0.1/8",))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"adapter": "soap@1"}, "SLV-C070"),
        ({"headers": {"Host": "x"}}, "SLV-C071"),
        ({"headers": {"Cookie": "x"}}, "SLV-C071"),
        ({"response": {"version": "$.v"}}, "SLV-C072"),
        ({"response": {"answer": "$..a"}}, "SLV-C068"),
        ({"response": {"answer": "header:X"}}, "SLV-C068"),
        ({"control_urls": ["https://a.cl/"]}, "SLV-C073"),
        ({"control_urls": ["https://a.cl/x", "https://A.cl/y"]}, "SLV-C073"),
    ],
)
def test_endpoints_that_are_refused(change, code):
    with pytest.raises(ContractError) as caught:
        endpoint_spec(**change)
    assert caught.value.code == code

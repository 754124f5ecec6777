"""A 401 is charged to whoever owns the credential; where none was agreed it is the vendor's."""

from __future__ import annotations

import pytest

from slaverify.contract import Outcome
from slaverify.engine import Received, read_response
from tests.engine.endpoints import endpoint_spec

AUTH = {"header": "Authorization", "scheme": "Bearer", "secret": "env:TOKEN"}


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("auth", "outcome"),
    [
        (None, Outcome.VENDOR_FAILURE),
        ({**AUTH, "owner": "vendor"}, Outcome.VENDOR_FAILURE),
        ({**AUTH, "owner": "auditor"}, Outcome.AUDITOR_FAILURE),
    ],
)
def test_whose_a_refused_credential_is(status: int, auth: dict[str, str] | None, outcome: Outcome) -> None:
    spec = endpoint_spec(**({} if auth is None else {"auth": auth}))
    assert read_response(spec, Received(status, {}, b"{}", None, None)).outcome is outcome

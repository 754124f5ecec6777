"""Secrets: read where they are, shown nowhere."""

from __future__ import annotations

import base64
import pickle
from urllib.parse import quote

import pytest

from slaverify.engine.wire import Secrets, read_secrets
from slaverify.errors import EndpointError

SECRET = "sk-canary/+=&1234567890"


def test_read_from_environment_and_file(tmp_path):
    file = tmp_path / "key"
    file.write_text(SECRET + "\n")
    file.chmod(0o600)
    secrets = read_secrets(["env:KEY", f"file:{file}"], {"KEY": SECRET})
    assert secrets.header_value("Bearer", "env:KEY") == f"Bearer {SECRET}"
    assert secrets.header_value("", f"file:{file}") == SECRET


def test_files_that_others_could_read_are_refused(tmp_path):
    file, link = tmp_path / "key", tmp_path / "link"
    file.write_text(SECRET)
    for mode in (0o640, 0o604, 0o700):
        file.chmod(mode)
        with pytest.raises(EndpointError) as caught:
            read_secrets([f"file:{file}"], {})
        assert caught.value.code == "SLV-N021"
    file.chmod(0o600)
    link.symlink_to(file)
    for path in (link, tmp_path):
        with pytest.raises(EndpointError):
            read_secrets([f"file:{path}"], {})


@pytest.mark.parametrize("value", ["", "abc", "línea", "two\nlines", " padded "])
def test_values_that_cannot_be_a_secret(value):
    with pytest.raises(EndpointError) as caught:
        read_secrets(["env:KEY"], {"KEY": value})
    assert value.strip() == "" or value not in str(caught.value)


def test_absent():
    with pytest.raises(EndpointError) as caught:
        read_secrets(["env:NOT_THERE"], {})
    assert (caught.value.code, caught.value.exit_code) == ("SLV-N020", 6)


def test_a_secret_is_shown_as_stars_and_not_serialised():
    secrets = Secrets({"env:KEY": SECRET})
    assert repr(secrets) == str(secrets) == f"{secrets}" == "***"
    assert SECRET not in str(vars(type(secrets)))
    with pytest.raises(TypeError):
        pickle.dumps(secrets)


def test_redaction_by_value_and_its_forms():
    secrets = Secrets({"env:KEY": SECRET})
    raw = SECRET.encode()
    forms = [raw, base64.b64encode(raw), base64.urlsafe_b64encode(raw).rstrip(b"="), quote(SECRET, safe="").encode()]
    for form in forms:
        assert secrets.redact(b"<" + form + b">") == b"<***>"
    assert secrets.redact_text("nada") == "nada"

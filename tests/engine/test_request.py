"""Templates: item text can break out of nothing, and what must not be named cannot be named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.engine import RequestIds, compile_template
from slaverify.engine.request import FORBIDDEN
from slaverify.errors import ContractError, EndpointError

IDS = RequestIds("a" * 32, "b" * 32)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_of_an_item_stays_a_string(text):
    template = compile_template({"a": "${query}", "b": ["¿${query}? ${query}", {"c": "$${query}"}], "n": 1, "t": True})
    body = json.loads(template.render({"query": text}, IDS))
    assert body == {"a": text, "b": [f"¿{text}? {text}", {"c": "${query}"}], "n": 1, "t": True}


def test_every_name_is_replaced_by_its_value():
    template = compile_template(
        {"m": "${messages}", "f": "${attachments}", "n": "${nonce}", "r": "${request_id}", "q": "${query}"}
    )
    body = json.loads(template.render({"query": "x"}, IDS))
    assert body == {
        "m": [{"role": "user", "content": "x"}],
        "f": [],
        "n": "a" * 32,
        "r": "b" * 32,
        "q": "x",
    }


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_tells_the_vendor_too_much_is_refused(name):
    with pytest.raises(ContractError) as caught:
        compile_template({"q": "${query}", "x": ["${" + name + "}"]})
    assert (caught.value.code, caught.value.where) == ("SLV-C061", "endpoint.request.x[0]")


@pytest.mark.parametrize(
    ("tree", "code"),
    [
        ({"q": "${query}", "x": "${quary}"}, "SLV-C060"),
        ({"q": "${query}", "x": "${"}, "SLV-C060"),
        ({"q": "${query}", "x": "${tools}"}, "SLV-C060"),
        ({"q": "${query}", "x": "no ${nonce}"}, "SLV-C062"),
        ({"${query}": "${query}"}, "SLV-C062"),
        ({"q": "hola"}, "SLV-C063"),
    ],
)
def test_templates_that_are_refused(tree, code):
    with pytest.raises(ContractError) as caught:
        compile_template(tree)
    assert caught.value.code == code


def test_an_item_that_does_not_fit_is_refused_before_it_is_sent():
    template = compile_template({"q": "${query}"})
    with pytest.raises(EndpointError) as caught:
        template.check({"messages": [{"role": "user", "content": "x"}]})
    assert (caught.value.code, caught.value.exit_code) == ("SLV-N010", 5)

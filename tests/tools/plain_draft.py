"""The demo contract cut down to questions and answers: no citations, two strata, the two metrics that bind."""

from __future__ import annotations

import copy
from typing import Any


def plain(tree: Any) -> dict[str, Any]:
    """Return the tree of a simpler contract, for tests that look at something else than citations."""
    out: dict[str, Any] = copy.deepcopy(dict(tree))
    del out["scope"]["catalogue"], out["endpoint"]["response"]["citations"], out["method"]["citation_grammar"]
    out["method"]["profile"] = "qa@1"
    out["evaluation_set"].update(size=300, strata={"direct": 240, "out_of_corpus": 60})
    out["evaluation_set"]["sample"]["per_stratum"] = {"direct": 120, "out_of_corpus": 30}
    accuracy, hallucination, *_ = out["metrics"]
    accuracy["among"], hallucination["among"] = {"stratum": ["direct"]}, {"stratum": ["direct", "out_of_corpus"]}
    out["metrics"] = [accuracy, hallucination]
    return out

"""Verification: anybody, offline, from a PDF or a bundle, whether the report is whole and its verdict follows.

`verify` is pure and meets no network, renderer or journal; the caller opens files, decrypts the annex and renders
the page again, and hands the results in. Trust comes from outside the files under test.

Source: docs/spec/verification.md.
"""

from slaverify.verify.annex_items import AnnexItem, annex_index, read_annex_index
from slaverify.verify.checks import RULES, Check, Level, Outcome, Result
from slaverify.verify.html import render_html
from slaverify.verify.paths import in_order, path_of, path_scores, path_summary, path_traces
from slaverify.verify.records import Patterns, cluster_names, finished
from slaverify.verify.request import Rerendered, Trust, VerifyRequest
from slaverify.verify.text import render_text
from slaverify.verify.verification import Identity, MetricVerdict, Moment, Verdict, Verification, Withheld
from slaverify.verify.verifier import verify

__all__ = [
    "RULES",
    "AnnexItem",
    "Check",
    "Identity",
    "Level",
    "MetricVerdict",
    "Moment",
    "Outcome",
    "Patterns",
    "Rerendered",
    "Result",
    "Trust",
    "Verdict",
    "Verification",
    "VerifyRequest",
    "Withheld",
    "annex_index",
    "cluster_names",
    "finished",
    "in_order",
    "path_of",
    "path_scores",
    "path_summary",
    "path_traces",
    "read_annex_index",
    "render_html",
    "render_text",
    "verify",
]

"""How the tests call the verifier, as a command line would: a reader's refusal goes in, nothing comes out raised."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from slaverify.errors import SlaverifyError
from slaverify.evidence import Bundle
from slaverify.verify import Outcome, Result, Trust, Verification, VerifyRequest, render_text, verify
from tests.verify.sample import Line

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def opened(files: Mapping[str, bytes]) -> Bundle | SlaverifyError:
    """The bundle as its reader gives it: or the refusal, as for a file that the manifest does not name."""
    try:
        bundle = Bundle.of_files(files)
    except SlaverifyError as error:
        return error
    return bundle


def check(
    made: Line, files: Mapping[str, bytes] | None = None, *, trust: Trust | None = None, **more: object
) -> Verification:
    """Verify files against the contract of the sample (or another trust), and see that text, JSON and exit agree."""
    request = VerifyRequest(
        now=NOW,
        bundle=None if files is None else opened(files),
        trust=Trust(contract=made.contract) if trust is None else trust,
        **more,  # type: ignore[arg-type]
    )
    found = verify(request)
    agree(found)
    return found


def agree(found: Verification) -> None:
    """Text, JSON and exit code say the same, in both languages."""
    tree = found.to_json("es")
    assert tree["outcome"] == found.outcome and tree["exit_code"] == found.exit_code
    assert [row["id"] for row in tree["checks"]] == [f"V{n:02d}" for n in range(1, 21)]
    failed = {row["id"] for row in tree["checks"] if row["result"] == "failed"}
    words = {
        Outcome.VERIFIED: ("VERIFICADO", "VERIFIED"),
        Outcome.NOT_VERIFIED: ("NO VERIFICADO", "NOT VERIFIED"),
        Outcome.INDETERMINATE: ("INDETERMINADO", "INDETERMINATE"),
        Outcome.DEMO: ("DEMO", "DEMO"),
    }[found.outcome]
    for language, word in zip(("es", "en"), words, strict=True):
        text = render_text(found, language)
        assert text.startswith(f"{word} · ")
        assert {line.split()[1] for line in text.splitlines() if line.startswith("  ✗ ")} == failed
    assert bool(failed) == (found.outcome is Outcome.NOT_VERIFIED)
    assert (found.exit_code == 0) <= (found.outcome in (Outcome.VERIFIED, Outcome.DEMO))
    for one in found.checks:
        assert one.result is Result.PASSED or (one.reason.es and one.reason.en), one.id


def failures(found: Verification) -> set[str]:
    return {one.id for one in found.failed()}


def said(found: Verification, rule: str) -> str:
    one = found.check(rule)
    return f"{one.reason.en} {one.expected} {one.found}"

"""What integrity events do: the patterns that a contract binds are ones that a run can show."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.contract.blocks import Blocks
from slaverify.contract.findings import Finding, Path
from slaverify.contract.shape import nearest
from slaverify.contract.words import PatternEvent
from slaverify.errors import Text

_KNOWN = tuple(PatternEvent)
_PLACE: Path = ("verdict", "integrity")


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the patterns that nothing can show."""
    if blocks.verdict is None:
        return
    rules = blocks.verdict.integrity
    for index, code in enumerate(rules.binding_patterns):
        path: Path = (*_PLACE, "binding_patterns", index)
        if code not in _KNOWN:
            near = nearest(code, _KNOWN)
            yield Finding(
                "SLV-C048",
                path,
                Text(f"no hay patrón `{code}`", f"there is no pattern `{code}`"),
                Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
                if near
                else Text(f"los patrones son: {', '.join(_KNOWN)}", f"the patterns are: {', '.join(_KNOWN)}"),
            )
        elif code == PatternEvent.LATENCY_CEILING and rules.latency_ceiling_s is None:
            yield Finding(
                "SLV-C048",
                path,
                Text("sin techo no se ve `latency_ceiling`", "without a ceiling `latency_ceiling` is never seen"),
                Text(
                    "agregue `latency_ceiling_s`, en segundos, o quite el patrón",
                    "add `latency_ceiling_s`, in seconds, or remove the pattern",
                ),
            )

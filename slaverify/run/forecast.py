"""What a run would send, how much, how long and at what price: from the contract alone, before anything leaves. Pure.

Source: docs/spec/run.md, section "Forecast".
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from urllib.parse import urlsplit

from slaverify.canonical import JsonObject, JsonValue, decimal_text
from slaverify.contract import Contract, Extend
from slaverify.engine import EndpointSpec, RequestIds, request_headers
from slaverify.run.conversation import ToolProbe

PROBES_BEFORE, PROBES_DURING = 3, 4
"""How often the public probe is sent: in the preflight, and at 25, 50, 75 and 100 % of the run."""
ASSUMED_LATENCY = Decimal(1)
"""Time of an answer where neither the contract nor the caller gives one, seconds (convention)."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """One request as it would be sent (for the public probe, secrets as `***`), and the size of the run.

    Times in seconds: `likely_s` if every first attempt is answered in `latency_s`; `longest_s` if every attempt
    meets its deadline. Costs are requests times `price`, in the caller's currency; None without a price.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    items: int
    exchanges: int
    most_requests: int
    probes: int
    concurrency: int
    rate_per_s: Decimal | None
    latency_s: Decimal
    likely_s: int
    longest_s: int
    paid_by: str
    least_cost: Decimal | None
    most_cost: Decimal | None

    def to_json(self) -> JsonObject:
        """Return the forecast as one document, type `slaverify/forecast/1`."""
        headers: list[JsonValue] = [[name, value] for name, value in self.headers]
        return {
            "type": "slaverify/forecast/1",
            "request": {
                "method": self.method,
                "url": self.url,
                "headers": headers,
                "body": self.body.decode("utf-8"),
            },
            "items": self.items,
            "exchanges": self.exchanges,
            "most_requests": self.most_requests,
            "probes": self.probes,
            "concurrency": self.concurrency,
            "rate_per_s": None if self.rate_per_s is None else decimal_text(self.rate_per_s),
            "latency_s": decimal_text(self.latency_s),
            "likely_s": self.likely_s,
            "longest_s": self.longest_s,
            "paid_by": self.paid_by,
            "least_cost": None if self.least_cost is None else decimal_text(self.least_cost),
            "most_cost": None if self.most_cost is None else decimal_text(self.most_cost),
        }


def forecast(
    contract: Contract,
    spec: EndpointSpec,
    *,
    latency_s: Decimal | None = None,
    price: Decimal | None = None,
    tools: ToolProbe | None = None,
) -> Forecast:
    """Return what a run of the contract would send; the body is that of the public probe, no item is opened."""
    call = spec.call
    sizes = contract.evaluation_set.sample.per_stratum or contract.evaluation_set.strata
    items = sum(sizes.values())
    exchanges = items * contract.repetitions.per_item + _beside(contract)
    doubt = contract.verdict.inconclusive
    # A second stage is sent only where the first leaves the doubt: it is in what a run takes at the most.
    later = sum(doubt.extend.per_stratum.values()) if isinstance(doubt, Extend) else 0
    every = exchanges + later * contract.repetitions.per_item
    most = every * call.attempts
    probes = PROBES_BEFORE + PROBES_DURING
    latency = latency_s or call.agreed_latency_s or ASSUMED_LATENCY
    waits = sum(min(call.base_s * 2**k + call.jitter_s, call.cap_s) for k in range(call.attempts - 1))
    longest = every * (call.attempts * call.total_timeout_s + waits) / call.concurrency
    query: JsonObject = {"query": spec.probe_query}
    body = spec.template.render(
        query if tools is None else tools.package(spec.probe_query), RequestIds("0" * 32, "0" * 32)
    )
    shown = None if spec.auth is None else f"{spec.auth.scheme} ***".strip()
    automatic = [("Host", urlsplit(spec.address.url).netloc), ("Content-Length", str(len(body)))]
    return Forecast(
        method=spec.method,
        url=spec.address.url,
        headers=(*automatic, *request_headers(spec, shown)),
        body=body,
        items=items,
        exchanges=exchanges,
        most_requests=most,
        probes=probes,
        concurrency=call.concurrency,
        rate_per_s=call.rate_per_s,
        latency_s=latency,
        likely_s=_seconds(max(exchanges * latency / call.concurrency, _by_rate(exchanges, call.rate_per_s))),
        longest_s=_seconds(max(longest, _by_rate(most, call.rate_per_s))),
        paid_by=call.paid_by,
        least_cost=None if price is None else price * (exchanges + probes),
        most_cost=None if price is None else price * (most + probes),
    )


def _by_rate(requests: int, rate_per_s: Decimal | None) -> Decimal:
    return Decimal(0) if rate_per_s is None else requests / rate_per_s


def _beside(contract: Contract) -> int:
    """Return the exchanges beside the sample: the arms (of a twin the original is asked too), and what is repeated."""
    arms, again = contract.evaluation_set.sample.arms, contract.repetitions.dispersion_sample
    more = 0 if again is None else again.items * again.repeats
    return (arms.anchor + 2 * arms.twin + arms.probe) * contract.repetitions.per_item + more


def _seconds(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))

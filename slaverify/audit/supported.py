"""What this version can carry out. A contract that asks for more is refused before anything leaves, never read down."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.contract import Contract, Extend
from slaverify.engine import is_plugged
from slaverify.errors import ContractError, ProblemsError, SlaverifyError, Text
from slaverify.judging import PARSERS

JUDGE_ADAPTERS = ("openai_chat@1", "anthropic_messages@1")


def check_supported(contract: Contract, *, rehearsal: bool = False) -> None:
    """Refuse a contract whose terms this version cannot carry out. Raises: ProblemsError of SLV-A030 (exit 2).

    A `rehearsal` is the vendor's self-check: nothing of it is signed or timestamped.
    """
    alone = ("contract.purpose", "report.signature.tsa_urls") if rehearsal else ()
    found = [one for one in _beyond(contract) if one[0] not in alone]
    problems: list[SlaverifyError] = [_unsupported(place, es, en) for place, es, en in found]
    if problems:
        raise ProblemsError(problems)


def _beyond(contract: Contract) -> Iterator[tuple[str, str, str]]:
    verdict = contract.verdict
    yield from _judge(contract)
    if contract.method.profile == "trajectory@1":
        yield from _beyond_tools(contract)
    if contract.method.profile == "regulatory@1" and contract.scope.catalogue is None:
        # without it no phantom is ever found, and none found would read as none there
        yield "scope.catalogue", "el perfil regulatory@1 sin catálogo", "the profile regulatory@1 without a catalogue"
    if contract.method.plugins and (len(contract.method.plugins) > 1 or not is_plugged(contract)):
        yield "method.plugins", "complementos que no son el adaptador", "plug-ins that are not the adapter"
    yield from _beyond_arms(contract)
    if verdict.early_stop is not None:
        yield "verdict.early_stop", "la detención anticipada", "early stop"
    if isinstance(verdict.inconclusive, Extend):
        yield from _beyond_stages(contract)
    if not contract.report.signature.tsa_urls:
        yield "report.signature.tsa_urls", "un informe sin sello de tiempo", "a report without a timestamp"
    if contract.contract.purpose != "audit":
        yield "contract.purpose", f"el propósito {contract.contract.purpose}", f"purpose {contract.contract.purpose}"
    if contract.repetitions.dispersion_sample is not None:
        yield from _beyond_repeats(contract)
    if contract.schedule.shadow_share:
        yield "schedule.shadow_share", "el tráfico de sombra", "shadow traffic"


def _beyond_arms(contract: Contract) -> Iterator[tuple[str, str, str]]:
    bank = contract.evaluation_set
    if not any((bank.sample.arms.anchor, bank.sample.arms.twin, bank.sample.arms.probe)):
        return
    place = "evaluation_set.sample.arms"
    if bank.sample.method == "full":
        yield place, "brazos con una muestra «full», que no deja ítems sin enviar", "arms beside a `full` sample"
    if bank.exposure == "reuse":
        yield place, "brazos con «exposure: reuse»: la muestra no sería nueva", "arms where the sample may be reused"
    if contract.method.profile == "trajectory@1":
        yield place, "brazos con herramientas", "arms with tools"


def _judge(contract: Contract) -> Iterator[tuple[str, str, str]]:
    judge = contract.judge
    if judge is None:
        return
    for member in judge.panel:
        if member.adapter not in JUDGE_ADAPTERS:
            yield "judge.panel.adapter", f"el adaptador {member.adapter}", f"the adapter {member.adapter}"
    if judge.calibration.design == "external" and judge.calibration.labels_digest is None:
        yield "judge.calibration.labels_digest", "etiquetas ajenas sin digest pactado", "labels of others, not pinned"
    if judge.parser not in PARSERS:
        yield "judge.parser", f"el lector {judge.parser}", f"the parser {judge.parser}"


def _beyond_tools(contract: Contract) -> Iterator[tuple[str, str, str]]:
    agreed = contract.method.trajectory
    if agreed is None or agreed.profile != "slaverify-1":
        yield "method.trajectory.profile", "otro perfil de caminos que slaverify-1", "a path profile but slaverify-1"
    if contract.judge is not None:
        yield "judge", "un juez sobre caminos, que decide solo el código", "a judge on paths, which code alone decides"


def _beyond_stages(contract: Contract) -> Iterator[tuple[str, str, str]]:
    """A second stage is opened on what code alone decides, before anybody sees a result."""
    if contract.judge is not None:
        yield "verdict.inconclusive", "una segunda etapa con juez", "a second stage with a judge"
    if contract.method.profile == "trajectory@1":
        yield "verdict.inconclusive", "una segunda etapa sobre caminos", "a second stage on paths"
    if contract.evaluation_set.sample.method == "full":
        yield "verdict.inconclusive", "una segunda etapa tras el banco entero", "a second stage after the whole bank"
    arms = contract.evaluation_set.sample.arms
    if arms.anchor or arms.twin or arms.probe or contract.ledger.blind == "on":
        yield "verdict.inconclusive", "una segunda etapa con brazos o a ciegas", "a second stage with arms or blind"


def _beyond_repeats(contract: Contract) -> Iterator[tuple[str, str, str]]:
    """The dispersion sample is what code alone decides of calls that nobody else counts."""
    place = "repetitions.dispersion_sample"
    if contract.judge is not None:
        yield place, "la submuestra de dispersión con juez", "the dispersion sample with a judge"
    if contract.method.profile == "trajectory@1":
        yield place, "la submuestra de dispersión sobre caminos", "the dispersion sample on paths"
    if isinstance(contract.verdict.inconclusive, Extend):
        yield place, "la submuestra de dispersión en dos etapas", "the dispersion sample in two stages"


def _unsupported(place: str, es: str, en: str) -> ContractError:
    return ContractError(
        "SLV-A030",
        Text(f"esta versión no puede llevar a cabo {es}", f"this version cannot carry out {en}"),
        why=Text(
            "el contrato pacta algo que no se mediría; no se audita a medias",
            "the contract agrees on something that would not be measured; nothing is audited by halves",
        ),
        fix=Text(
            "use otra versión del producto, u otra del contrato", "use another version of the product or contract"
        ),
        where=place,
    )

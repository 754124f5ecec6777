"""V19, first half: from wire bytes to outcomes, from outcomes and items to score records, by the same pure functions.

1. with the edition of the parties: outcomes, flags, versions and keyed digests follow from the recorded bytes;
2. always: one score record per exchange of the sample, and one per exchange of its arms in a file of their own, of its
   stratum, with the outcome of the run; the signals that the bytes (or the public lines alone) show, and the patterns
   among them as events of the records;
3. with the annex: each item is the one that the bank committed to, and the rules give the records again, byte for
   byte; what a judge decided follows from its recorded replies, what a person decided is attested and compared in
   all other fields.

Source: docs/spec/verification.md (V19), docs/spec/run.md, docs/spec/score-record.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slaverify.canonical import digest_of
from slaverify.contract import LoadedContract, Outcome
from slaverify.custody import Index, parse_index
from slaverify.engine import adapter_of, compile_endpoint
from slaverify.errors import ApplicationError, EvidenceError, Text
from slaverify.evalset import Catalogue, Item, read_catalogue
from slaverify.evidence import ARM_SCORES, Bundle, labelled_run
from slaverify.judging import GivenAnswer
from slaverify.judging.calibration import ruled_records
from slaverify.run import (
    EXCHANGES,
    OUTCOMES,
    PLAN,
    DerivedExchange,
    DerivedRun,
    Plan,
    derive_outcomes,
    read_plan,
    recorded_run,
    rules_of,
)
from slaverify.scoring import ScoreRecord, Settings, score, settings_for
from slaverify.trajectory.loop import has_tools
from slaverify.trajectory.record import Ground, ScoredPath
from slaverify.verify.annex_items import INDEX, opened, read_annex_index
from slaverify.verify.arms import ArmRecords, arm_parts, read_arms
from slaverify.verify.checks import Part, failed, noted, skipped
from slaverify.verify.judged import public_parts, rejudge, replayed_parts
from slaverify.verify.paths import (
    chain_parts,
    conversation_of_annex,
    ground_of_annex,
    path_of,
    path_parts,
    replayed_paths,
)
from slaverify.verify.records import Patterns, answer_mac, cluster_names, finished
from slaverify.verify.signals import Signals
from slaverify.verify.trees import first_difference

SCORES = "scoring/scores.jsonl"
CATALOGUE = "contract/catalogue.jsonl"
_MAX = 512 * 1024**2
_WHOLE_BODY = 262_144
_WHOLE_LINES = 384 * 1024**2
"""Bodies up to this many bytes, and files of exchanges up to this many, stand whole."""
_Key = tuple[str, int, str]


def replay_parts(bundle: Bundle, contract: LoadedContract, annex: Mapping[str, bytes] | None) -> Iterator[Part]:
    """Yield the parts of the first half of V19; the caller turns what a reader raises into a failure."""
    ground = _ground(bundle, contract, annex)
    plan = read_plan(bundle.read(PLAN))
    run, hindrance = _run(bundle, contract, annex, ground, plan)
    from_bytes = hindrance is None
    if hindrance is None:
        yield from _mismatches(run)
        yield from _cut(bundle)
    else:
        yield hindrance
    patterns = Signals(plan, bundle)
    yield from patterns.parts(run.signals, from_bytes)
    if not bundle.has(SCORES):
        yield from _unscored(bundle)
        return
    catalogue = _catalogue(bundle, contract)
    index = parse_index(bundle.read("custody/index.jsonl", _MAX))
    records = [ScoreRecord.from_json(line, where=SCORES) for line in bundle.lines(SCORES)]
    arms = read_arms(bundle, contract)
    exchanges = {_key_of(one): one for one in run.exchanges if not one.planned.shadow}
    beside = {key: one for key, one in exchanges.items() if arms.beside.holds(key[0], key[1])}
    sample = {key: one for key, one in exchanges.items() if key not in beside}
    yield from _paired(SCORES, records, sample, index)
    yield from _paired(ARM_SCORES, arms.records, beside, index)
    yield from patterns.event_parts((*records, *arms.records))
    yield from public_parts(bundle, contract, records)
    if has_tools(contract.model):
        yield from path_parts(bundle, records)
        yield from chain_parts(bundle, contract)
    yield from _scores(
        bundle, contract, catalogue, annex, records, run, index, from_bytes, ground, arms, patterns.known
    )


def _ground(bundle: Bundle, contract: LoadedContract, annex: Mapping[str, bytes] | None) -> Ground | None:
    """Return what the paths of an engine with tools are scored on; None without the annex."""
    if annex is None or not has_tools(contract.model):
        return None
    return ground_of_annex(bundle, contract, annex)


def _run(
    bundle: Bundle, contract: LoadedContract, annex: Mapping[str, bytes] | None, ground: Ground | None, plan: Plan
) -> tuple[DerivedRun, Part | None]:
    """Return the run, derived from its bytes, or as recorded with what hindered that."""
    rules, outcomes = rules_of(contract.model), bundle.records(OUTCOMES)
    why = Text("los resultados no se recalculan de los bytes recibidos", "outcomes are not derived from wire bytes")
    if not bundle.has(EXCHANGES):
        remedy = Text("pida la edición de las partes", "ask for the edition of the parties")
        return recorded_run(plan, outcomes, rules.ceiling_ms), skipped(why, remedy, optional=True)
    if adapter_of(contract.model) is None:
        pins = ", ".join(f"{one.name} {one.version} {one.package_digest}" for one in contract.model.method.plugins)
        remedy = Text(f"instale el complemento que el contrato fija: {pins}", f"install the pinned plug-in: {pins}")
        return recorded_run(plan, outcomes, rules.ceiling_ms), skipped(why, remedy)
    spec = compile_endpoint(contract.model)
    if ground is not None and annex is not None:
        index = parse_index(bundle.read("custody/index.jsonl", _MAX))
        items = {item.id: opened(item, index) for item in read_annex_index(annex.get(INDEX, b""))}
        rules = replace(rules, conversation=conversation_of_annex(ground, contract, items))
    return derive_outcomes(spec, rules, plan, outcomes, bundle.records(EXCHANGES)), None


def _mismatches(run: DerivedRun) -> Iterator[Part]:
    for one in run.mismatches:
        place = f"{one.path}:{one.line}"
        yield failed(
            Text(
                f"{place}: {one.key} no sale de los bytes recibidos", f"{place}: {one.key} is not what the bytes give"
            ),
            expected=one.derived,
            found=one.recorded,
        )


def _cut(bundle: Bundle) -> Iterator[Part]:
    """A cut response leaves an outcome to the auditor's word: only what the limits of a bundle force may be cut."""
    sizes = [cut["size"] for line in bundle.lines(EXCHANGES) if isinstance(cut := line.get("cut"), dict)]
    if not sizes:
        return
    whole = bundle.size(EXCHANGES) + sum(size for size in sizes if isinstance(size, int)) * 4 // 3
    small = [size for size in sizes if not isinstance(size, int) or size <= _WHOLE_BODY]
    if small and whole <= _WHOLE_LINES:
        yield failed(
            Text(f"{len(small)} respuestas cortadas sin necesidad", f"{len(small)} responses were cut without need")
        )
    else:
        yield noted(
            Text(
                f"{len(sizes)} respuestas cortadas: su resultado es palabra del auditor",
                f"{len(sizes)} responses cut: their outcome is the auditor's word",
            )
        )


def _unscored(bundle: Bundle) -> Iterator[Part]:
    if bundle.withheld(SCORES):
        yield failed(Text(f"{SCORES} es público y no está", f"{SCORES} is public and is not here"))
    else:
        yield skipped(Text("la corrida no se puntuó", "the run was not scored"), optional=True)


def _key(record: ScoreRecord) -> _Key:
    return record.item_id, record.repetition, record.side


def _key_of(exchange: DerivedExchange) -> _Key:
    return exchange.planned.item_id, exchange.planned.repetition, exchange.planned.side


def _paired(
    path: str, records: Sequence[ScoreRecord], exchanges: Mapping[_Key, DerivedExchange], index: Index
) -> Iterator[Part]:
    keys = [_key(record) for record in records]
    if keys != sorted(exchanges):
        yield failed(
            Text(
                f"{path}: hay {len(keys)} puntajes para {len(exchanges)} consultas, o en otro orden",
                f"{path}: {len(keys)} scores for {len(exchanges)} exchanges, or in another order",
            )
        )
        return
    for record in records:
        one, leaf = exchanges[_key(record)], index.by_id.get(record.item_id)
        stated = (record.run_outcome, record.answer_mac, record.attempts, record.latency_ms, record.stratum)
        due = (one.outcome, answer_mac(one), one.attempts, one.latency_ms, None if leaf is None else leaf.stratum)
        names = ("run_outcome", "answer_mac", "attempts", "latency_ms", "stratum")
        for name, here, there in zip(names, due, stated, strict=True):
            if here != there:
                yield failed(
                    Text(
                        f"{path} {record.item_id}: {name} no es el de la corrida",
                        f"{path} {record.item_id}: {name} is not the run's",
                    ),
                    expected=str(here),
                    found=str(there),
                )
        if not set(one.flags) <= set(record.flags):
            yield failed(
                Text(
                    f"{record.item_id}: faltan marcas de la corrida", f"{record.item_id}: flags of the run are missing"
                ),
                expected=", ".join(sorted(one.flags)),
                found=", ".join(record.flags),
            )
        if record.outcome != record.run_outcome and (
            record.run_outcome is not Outcome.ANSWERED or record.outcome not in (Outcome.EMPTY, Outcome.TRUNCATED)
        ):
            yield failed(
                Text(
                    f"{record.item_id}: el resultado cambió al puntuar", f"{record.item_id}: scoring moved the outcome"
                )
            )


def _catalogue(bundle: Bundle, contract: LoadedContract) -> Catalogue | None:
    """Return the catalogue that the contract pins. Raises: EvidenceError SLV-E053 (absent, or another one)."""
    pinned = contract.model.scope.catalogue
    if pinned is None:
        return None
    data = bundle.read(CATALOGUE, _MAX) if bundle.has(CATALOGUE) else None
    if data is None or digest_of(data) != pinned.digest:
        raise EvidenceError(
            "SLV-E053",
            Text("el catálogo del paquete no es el del contrato", "the catalogue of the bundle is not the contract's"),
            where=CATALOGUE,
        )
    return read_catalogue(data, CATALOGUE)


def _scores(
    bundle: Bundle,
    contract: LoadedContract,
    catalogue: Catalogue | None,
    annex: Mapping[str, bytes] | None,
    records: list[ScoreRecord],
    run: DerivedRun,
    index: Index,
    from_bytes: bool,
    ground: Ground | None,
    arms: ArmRecords,
    patterns: Patterns,
) -> Iterator[Part]:
    if annex is None or not from_bytes:
        yield skipped(
            Text("los puntajes no se recalculan de las respuestas", "scores are not computed again from the answers"),
            Text(
                "con la edición de las partes y el anexo: agregue --identity",
                "with the edition of the parties and the annex: add --identity",
            ),
            # An annex that was given must be used to the end.
            optional=annex is None,
        )
        return
    items = {item.id: opened(item, index) for item in read_annex_index(annex.get(INDEX, b""))}
    strangers = _other_items(set(items), {record.item_id for record in (*records, *arms.records)})
    if strangers is not None:
        yield strangers
        return
    clusters = cluster_names(items.values())
    exchanges = {_key_of(one): one for one in run.exchanges}
    if ground is not None:
        yield from _paths(bundle, records, items, exchanges, clusters, ground, patterns)
        return
    settings = {item.stratum: settings_for(contract.model, item.stratum, catalogue) for item in items.values()}

    def again_of(record: ScoreRecord) -> GivenAnswer:
        item = items[record.item_id]
        return _scored(item, exchanges[_key(record)], settings[item.stratum], clusters[item.id], patterns)

    try:
        answers, beside = [again_of(one) for one in records], [again_of(one) for one in arms.records]
    except ApplicationError as error:
        # a component that this installation lacks: the evidence is not to blame, nor is it checked
        yield skipped(error.what, error.fix)
        return
    yield from arm_parts(arms, items)
    for record, answer in zip(arms.records, beside, strict=True):
        yield from _compared(record, answer.record, ARM_SCORES)
    yield from _decided(bundle, contract, annex, records, answers)


def _decided(
    bundle: Bundle,
    contract: LoadedContract,
    annex: Mapping[str, bytes],
    records: list[ScoreRecord],
    answers: Sequence[GivenAnswer],
) -> Iterator[Part]:
    """Compare the records of the sample with what rules, judge and people make of the answers."""
    rescored: Sequence[ScoreRecord] = [answer.record for answer in answers]
    if contract.model.judge is not None:
        again = rejudge(bundle, contract, annex, answers)
        yield from replayed_parts(bundle, annex, again)
        rescored = again.records
    people = labelled_run(bundle, contract)
    if people is not None:
        # What people settled follows from their labels: that they gave them is attested.
        ruled = ruled_records(people, [record.to_json() for record in rescored])
        rescored = [ScoreRecord.from_json(record) for record in ruled]
    for record, derived in zip(records, rescored, strict=True):
        yield from _compared(record, derived)


def _other_items(annexed: set[str], drawn: set[str]) -> Part | None:
    if annexed == drawn:
        return None
    lacks, more = len(drawn - annexed), len(annexed - drawn)
    return failed(
        Text(f"al anexo le faltan {lacks} ítems y le sobran {more}", f"the annex lacks {lacks} items, {more} too many")
    )


def _paths(
    bundle: Bundle,
    records: list[ScoreRecord],
    items: Mapping[str, Item],
    exchanges: Mapping[_Key, DerivedExchange],
    clusters: Mapping[str, str | None],
    ground: Ground,
    patterns: Patterns,
) -> Iterator[Part]:
    paths: list[ScoredPath] = []
    for record in records:
        exchange = exchanges[_key(record)]
        paths.append(path_of(items[record.item_id], exchange, ground))
        yield from _compared(record, finished(paths[-1].record, exchange, clusters[record.item_id], patterns))
    yield from replayed_paths(bundle, ground, paths)


def _scored(
    item: Item, exchange: DerivedExchange, settings: Settings, cluster: str | None, patterns: Patterns
) -> GivenAnswer:
    scored = score(item, exchange.answer, exchange.outcome, settings)
    return GivenAnswer(
        record=finished(scored.record, exchange, cluster, patterns),
        item=item,
        raw_text=None if exchange.answer is None else exchange.answer.text,
        clean_text=scored.clean_text,
        cited=() if scored.citations is None else scored.citations.existing,
    )


def _compared(record: ScoreRecord, again: ScoreRecord, where: str = SCORES) -> Iterator[Part]:
    found = first_difference(record.to_json(), again.to_json())
    if found is not None:
        path, there, here = found
        yield failed(
            Text(
                f"{where} {record.item_id}: {path} no es lo que dan las reglas",
                f"{where} {record.item_id}: {path} is not what the rules give",
            ),
            expected=here,
            found=there,
        )

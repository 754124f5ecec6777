"""The permission without which no byte of a drawn item leaves.

A `RunPermit` exists only as the result of `authorise`: the run is open in the ledger, its start is recorded, and
the record lies under a checkpoint with the anchor that the contract asks for. The run number is the ledger's: no
function of this room takes one to assign.

Source: docs/spec/ledger.md (registration before the first request).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from datetime import UTC, datetime

from slaverify.custody.blind import BlindSecret, start_of
from slaverify.custody.cosigners import Signer, signers
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.note import VerifiedCheckpoint, verify_checkpoint
from slaverify.custody.ports import TimestampVerifier, TokenTime
from slaverify.custody.runs import RunRecord
from slaverify.custody.shapes import read_time, text
from slaverify.custody.terms import Terms
from slaverify.custody.view import LedgerView
from slaverify.errors import CustodyError, SlaverifyError, Text

_GRANT = object()


@dataclass(frozen=True)
class RunPermit:
    """Leave to send the items of one run. Cannot be built but by `authorise`.

    `anchors` are the kinds of proof found (`timestamp`, `cosignature`, `sshsig`), `anchored_at` the time that they
    prove (None without any), `not_before` the moment before which no exchange of a drawn item may lie.
    """

    contract_digest: str
    run: int
    sample_sha256: str
    plan_sha256: str
    started_seq: int
    checkpoint_size: int
    checkpoint_root: str
    anchors: tuple[str, ...]
    anchored_at: datetime | None
    not_before: datetime
    grant: InitVar[object]

    def __post_init__(self, grant: object) -> None:
        if grant is not _GRANT:
            raise TypeError("a RunPermit comes from custody.authorise alone")


@dataclass(frozen=True, slots=True)
class StartEvidence:
    """What is put forward to anchor a start: a checkpoint, its token, SSH signatures of its body by witness name."""

    checkpoint: bytes
    token: bytes | None = None
    ssh_signatures: Mapping[str, str] | None = None


def authorise(
    view: LedgerView,
    terms: Terms,
    run: int,
    evidence: StartEvidence,
    *,
    now: datetime,
    timestamps: TimestampVerifier | None = None,
    over: bool = False,
    hidden: tuple[Entry, BlindSecret] | None = None,
) -> RunPermit:
    """Return the permit of a run, or refuse.

    `hidden`: the blind entry that is the start of the run, and what opens it, while it is closed in the ledger.

    1. the run is in the ledger and has started (K040); it is still open, unless `over` (reading evidence of a run
    that has ended); 2. the checkpoint holds: form, log signature, cosignatures (K027 to K029); 3. it is one of this
    ledger and covers the start (K025, K026, K040); 4. the anchor that the contract asks for is there (K029, K030,
    K031, K040). `now` (aware) is the time of this act or verification.

    Raises: CustodyError; K040 ends in exit 5 when acting and in 4 with `over`.
    """
    try:
        return _authorise(view, terms, run, evidence, now, timestamps, over, hidden)
    except CustodyError as error:
        if error.code == "SLV-K040" and not over:
            error.exit_code = 5
        raise


def _authorise(
    view: LedgerView,
    terms: Terms,
    run: int,
    evidence: StartEvidence,
    now: datetime,
    timestamps: TimestampVerifier | None,
    over: bool,
    hidden: tuple[Entry, BlindSecret] | None,
) -> RunPermit:
    record = view.run(terms.contract_digest, run)
    started = _started(record, run, over) if hidden is None else _hidden(view, record, run, *hidden)
    witnessed = terms.start_anchor in ("witness", "both")
    proven = verify_checkpoint(evidence.checkpoint, terms.checkpoint_policy(quorum=0), now)
    view.against(proven.size, proven.root)
    if proven.size <= started.seq:
        raise _refused("el punto de control es anterior al comienzo", "the checkpoint is older than the start")
    token = _token(evidence, proven, terms, timestamps)
    signed = signers(proven, terms, evidence.ssh_signatures or {}) if witnessed else ()
    witness_at = _witnesses(signed, terms) if witnessed else None
    anchors, at, earliest = [], None, read_time(started.time)
    if token is not None:
        anchors, at, earliest = ["timestamp"], token.at, token.earliest
    anchors += sorted({one.kind for one in signed})
    if witness_at is not None and at is None:
        at = earliest = witness_at
    return RunPermit(
        contract_digest=terms.contract_digest,
        run=run,
        sample_sha256=text(started.data, "sample_sha256"),
        plan_sha256=text(started.data, "plan_sha256"),
        started_seq=started.seq,
        checkpoint_size=proven.size,
        checkpoint_root=proven.root.hex(),
        anchors=tuple(anchors),
        anchored_at=at,
        not_before=earliest,
        grant=_GRANT,
    )


def _started(record: RunRecord | None, run: int, over: bool) -> Entry:
    if record is None:
        raise _refused(f"no hay corrida {run} en el libro", f"there is no run {run} in the ledger")
    if record.started is None:
        raise _refused("el comienzo no está en el libro", "the start is not in the ledger")
    if not record.is_open and not over:
        raise _refused(f"la corrida {run} ya terminó", f"run {run} is over")
    return record.started


def _hidden(view: LedgerView, record: RunRecord | None, run: int, blind: Entry, secret: BlindSecret) -> Entry:
    """Return the start that a blind entry of this ledger hides, if it is this run's and follows its draw."""
    started = start_of(view[blind.seq], secret)
    if record is None or not record.is_open or started is None or record.draw is None:
        raise _refused(f"no hay inicio ciego de la corrida {run}", f"there is no blind start of run {run}")
    named = (started.contract_digest, started.run, started.data.get("sample_sha256"))
    drawn = (record.contract_digest, record.number, record.draw.data["sample_sha256"])
    if named != drawn or started.seq < record.draw.seq:
        raise _refused("el inicio ciego es de otra corrida", "the blind start is of another run")
    return started


def _token(
    evidence: StartEvidence, proven: VerifiedCheckpoint, terms: Terms, timestamps: TimestampVerifier | None
) -> TokenTime | None:
    needed = terms.start_anchor in ("timestamp", "both")
    if evidence.token is None or timestamps is None:
        if needed:
            raise _refused("falta el sello de tiempo del comienzo", "the start has no timestamp")
        return None
    if not needed and not terms.tsa_roots:
        return None
    try:
        return timestamps.time(proven.body, evidence.token, terms.tsa_roots)
    except SlaverifyError as error:
        raise fault(31, "el sello de tiempo no vale", "the timestamp is not valid", why=error.what) from error


def _witnesses(signed: tuple[Signer, ...], terms: Terms) -> datetime | None:
    needed = max(1, terms.quorum)
    if len(signed) < needed:
        raise fault(29, f"firman {len(signed)} testigos de {needed}", f"{len(signed)} witnesses of {needed} signed")
    times = sorted(one.at for one in signed if one.at is not None)
    # The quorum stood when its last member signed.
    return None if len(times) < needed else datetime.fromtimestamp(times[needed - 1], tz=UTC)


def check_not_early(permit: RunPermit, first_exchange: datetime) -> None:
    """Refuse a run whose first exchange of a drawn item lies before its anchor. Raises: CustodyError SLV-K044."""
    if first_exchange < permit.not_before:
        raise fault(
            44,
            f"una consulta salió a las {first_exchange.isoformat()}, antes del ancla {permit.not_before.isoformat()}",
            f"an exchange left at {first_exchange.isoformat()}, before the anchor {permit.not_before.isoformat()}",
        )


def _refused(es: str, en: str) -> CustodyError:
    return fault(
        40,
        es,
        en,
        why=Text(
            "ningún ítem sorteado sale antes de que su corrida conste y esté anclada",
            "no drawn item leaves before its run is on record and anchored",
        ),
    )

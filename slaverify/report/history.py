"""The public history of a contract: what each run published, in a chain that shows removal and edition. Pure.

One line a run (aborted ones too), one more for each amended report; a published line never changes. The digest of a
line is `history_sha256` of a `report_issued` entry of the ledger. Figures are comparable only under one bank, method
and metric: others stand side by side without a difference.

Source: docs/spec/report.md (frozen history).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_canonical, sha256_hex
from slaverify.custody import Entry, LedgerView
from slaverify.errors import ReportError, Text

TYPE = "slaverify/history/1"
KEYS = frozenset(
    {
        "type",
        "seq",
        "prev_sha256",
        "report_id",
        "amends",
        "contract_digest",
        "bank_digest",
        "method_digest",
        "engine_version",
        "corpus_as_of",
        "corpus_size",
        "measured_from",
        "measured_to",
        "issued_at",
        "metrics",
        "judge",
        "state",
        "bundle_digest",
        "signed_digest",
    }
)
GROUNDS = ("dispute_resolved", "incident", "calibration")
"""Entries of the ledger on which a published state may be amended."""
_MAX_LINES = 10_000


@dataclass(frozen=True)
class Line:
    """One line of a history: its bytes without LF, and its tree."""

    raw: bytes
    tree: JsonObject

    @property
    def sha256(self) -> str:
        """SHA-256 of the line without LF, hex: what the ledger records."""
        return sha256_hex(self.raw)

    def text(self, key: str) -> str | None:
        """Return a text member, or None."""
        value = self.tree.get(key)
        return value if isinstance(value, str) else None

    @property
    def amended_digest(self) -> str | None:
        """The signed digest of the report that this one amends, or None."""
        amends = self.tree.get("amends")
        digest = amends.get("signed_digest") if isinstance(amends, Mapping) else None
        return digest if isinstance(digest, str) else None


@dataclass(frozen=True)
class Change:
    """A finding (what is not PASS) between two reports: open in both, resolved or new in the later one."""

    metric: str
    state: str
    kind: str


def read_history(data: bytes) -> list[Line]:
    """Read a history whole. Raises: ReportError SLV-R040 (a line that is none), SLV-R041 (the chain is broken)."""
    if data and not data.endswith(b"\n"):
        raise _malformed("LF")
    rows = data.split(b"\n")[:-1]
    if len(rows) > _MAX_LINES:
        raise _malformed(f"> {_MAX_LINES}")
    lines: list[Line] = []
    for number, raw in enumerate(rows):
        try:
            tree = loads_canonical(raw)
        except StrictJsonError as error:
            raise _malformed(f"{number}: {error}") from error
        if set(tree) != KEYS or tree["type"] != TYPE:
            raise _malformed(f"{number}: {', '.join(sorted(KEYS.symmetric_difference(tree))) or 'type'}")
        due = lines[-1].sha256 if lines else None
        if tree["seq"] != number or tree["prev_sha256"] != due:
            raise ReportError(
                "SLV-R041",
                Text(f"la línea {number} no sigue a la anterior", f"line {number} does not follow the one before"),
                why=Text("falta una línea, o se editó", "a line is missing, or was edited"),
                where=f"seq {number}",
                exit_code=5,
            )
        lines.append(Line(raw, tree))
    return lines


def check_history(lines: Sequence[Line], view: LedgerView, contract_digest: str) -> None:
    """Compare the history of a contract with its ledger.

    1. Each report that the ledger says was issued has its line, byte for byte; 2. each published line is in the ledger;
    3. each started run has a line, if any report came after it; 4. an amended state has a ground in the ledger.
    Raises: ReportError SLV-R042 (1 to 3), SLV-R030 (4); exit 5.
    """
    issued = [entry for entry in view.find_all("report_issued") if entry.data.get("contract_digest") == contract_digest]
    by_digest = {line.sha256: line for line in lines}
    for entry in issued:
        if str(entry.data.get("history_sha256")) not in by_digest:
            raise _not_in_step(str(entry.data.get("report_id")), "la línea que registró el libro no está", "not here")
    registered = {str(entry.data.get("history_sha256")) for entry in issued}
    for line in lines:
        ours = line.text("contract_digest") == contract_digest and line.text("signed_digest") is not None
        if ours and line.sha256 not in registered:
            raise _not_in_step(str(line.text("report_id")), "el libro no conoce esta línea", "not in the ledger")
    published = {str(line.text("report_id")) for line in lines}
    last = max((run_of(str(entry.data.get("report_id"))) for entry in issued), default=0)
    for run in view.runs(contract_digest):
        named = any(run_of(name) == run.number for name in published)
        if run.started is not None and run.number < last and not named:
            raise _not_in_step(f"{run.number}", "una corrida iniciada no tiene línea", "a started run has no line")
    for line in lines:
        _check_ground(line, lines, view, issued)


def run_of(report_id: str) -> int:
    """Return the number of the run in `<contract id>.<run>[-A<k>]`; 0 for another text."""
    number = report_id.rpartition(".")[2].partition("-A")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


def comparable(old: Line, new: Line) -> bool:
    """Tell whether two lines measured with one bank and one method."""
    return all(old.text(key) is not None and old.text(key) == new.text(key) for key in ("bank_digest", "method_digest"))


def changes(old: Line, new: Line) -> list[Change]:
    """Return the findings of two lines by metric and state; only lines that are comparable have any."""
    if not comparable(old, new):
        return []
    before, after = _findings(old), _findings(new)
    return [
        *(Change(name, state, "open" if before.get(name) == state else "new") for name, state in after.items()),
        *(Change(name, state, "resolved") for name, state in before.items() if after.get(name) != state),
    ]


def metrics_of(line: Line) -> list[JsonObject]:
    """Return the metrics of a line."""
    found = line.tree.get("metrics")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def ground(view: LedgerView, contract_digest: str, run: int, signed_digest: str) -> Entry | None:
    """Return the first entry after the report `signed_digest` on which its state may be amended, or None."""
    reports = [e for e in view.find_all("report_issued") if e.data.get("signed_digest") == signed_digest]
    if not reports:
        return None
    found = (entry for kind in GROUNDS for entry in view.find_all(kind) if entry.seq > reports[0].seq)
    own = (entry for entry in found if _speaks_of(entry.data, contract_digest, run))
    return min(own, key=lambda entry: entry.seq, default=None)


def _speaks_of(data: Mapping[str, JsonValue], contract_digest: str, run: int) -> bool:
    # An incident may name no run: it is then one of the whole ledger.
    return data.get("contract_digest", contract_digest) == contract_digest and data.get("run", run) == run


def _check_ground(line: Line, lines: Iterable[Line], view: LedgerView, issued: Sequence[Entry]) -> None:
    digest = line.amended_digest
    if digest is None:
        return
    old = next((one for one in lines if one.text("signed_digest") == digest), None)
    if old is None:
        raise _not_in_step(str(line.text("report_id")), "enmienda un informe que no está", "amends what is not here")
    if old.text("state") == line.text("state"):
        return
    own = [entry for entry in issued if entry.data.get("history_sha256") == line.sha256]
    found = ground(view, str(line.text("contract_digest")), run_of(str(line.text("report_id"))), digest)
    if found is None or not own or found.seq > own[0].seq:
        raise no_ground(str(line.text("report_id")))


def no_ground(where: str) -> ReportError:
    """Return SLV-R030: a published state was to change, and nothing in the ledger says why."""
    return ReportError(
        "SLV-R030",
        Text("cambia un estado publicado sin que el libro diga por qué", "a published state changes without a ground"),
        why=Text(
            "se espera dispute_resolved, incident o calibration en el libro, después del informe",
            "dispute_resolved, incident or calibration is expected in the ledger, after the report",
        ),
        fix=Text(
            "registre primero la resolución («slaverify custody dispute resolve»)",
            "record the resolution first (`slaverify custody dispute resolve`)",
        ),
        where=where,
        exit_code=5,
    )


def _findings(line: Line) -> dict[str, str]:
    return {str(entry.get("id")): str(entry.get("state")) for entry in metrics_of(line) if entry.get("state") != "PASS"}


def _malformed(detail: str) -> ReportError:
    return ReportError(
        "SLV-R040",
        Text("no es la historia de un contrato", "not the history of a contract"),
        why=Text(detail, detail),
        where=detail,
        exit_code=5,
    )


def _not_in_step(where: str, es: str, en: str) -> ReportError:
    return ReportError(
        "SLV-R042",
        Text(f"historia y libro no concuerdan: {es}", f"history and ledger do not agree: {en}"),
        fix=Text("pida ambos archivos otra vez a quien los publica", "ask whoever publishes them for both files again"),
        where=where,
        exit_code=5,
    )


def started_without_line(view: LedgerView, contract_digest: str, lines: Sequence[Line], before: int) -> Iterator[int]:
    """Yield the runs below `before` that were started and have no line."""
    named = {run_of(str(line.text("report_id"))) for line in lines if line.text("contract_digest") == contract_digest}
    for run in view.runs(contract_digest):
        if run.started is not None and run.number < before and run.number not in named:
            yield run.number

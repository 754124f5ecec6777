"""The named tamperings of a whole audit: another contract, run, ledger, time, key, verdict, annex, page.

Each is made from the clean sample by whoever could: the auditor with its key, the custodian with the ledger, or
anybody. What they must give: `lines` of `expected.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from io import BytesIO

import pikepdf

from slaverify.canonical import jcs, jsonl, sha256_hex
from slaverify.contract import LoadedContract, freeze
from slaverify.contract.load import parse_contract
from slaverify.custody.entries import parse_entry, write_line
from slaverify.custody.note import sign_checkpoint
from slaverify.errors import SlaverifyError
from slaverify.evidence import ANNEX, parse_manifest
from slaverify.evidence.annex import open_annex
from slaverify.evidence.pades import make_authority, make_signer, sign_pdf
from slaverify.verify import Rerendered, Trust
from tests.evidence.pki import NOW as PKI_NOW
from tests.evidence.pki import Tsa, auditor, key_of, tsa
from tests.verify.papers import VERSIONS, pdf, report, unsigned
from tests.verify.sample import (
    Edit,
    Line,
    closed,
    decided,
    edited,
    edited_line,
    forced,
    line,
    public,
    signed,
)

DECISION = "decision/decision.json"
LIMITATIONS = "decision/limitations.json"
SCORES = "scoring/scores.jsonl"
LEDGER = "custody/ledger.jsonl"


@dataclass(frozen=True)
class Attempt:
    """What the verifier is given: files of a bundle, and how it is asked."""

    made: Line
    files: Mapping[str, bytes] | None
    asked: dict[str, object] = field(default_factory=dict)


def _other(made: Line, edit: Edit, *, again: bool = True) -> LoadedContract:
    """The contract of the sample with an edit, frozen again: as valid as the first."""
    tree = json.loads(jcs(made.contract.tree))
    edit(tree)
    if again:
        tree["contract"]["status"] = "draft"
        for metric in tree["metrics"]:
            metric["derived"] = None
        return parse_contract(jcs(freeze(parse_contract(jcs(tree), "otro").model)), "otro")
    return parse_contract(jcs(tree), "otro")


def _threshold(tree: dict) -> None:
    tree["metrics"][0]["threshold"] = "0.65"


def b15_other_contract() -> Attempt:
    """The bundle holds its own contract, with valid pins of the same keys; the reader holds another."""
    made = line()
    return Attempt(made, closed(made), {"trust": Trust(contract=_other(made, _threshold))})


def b15_other_contract_by_digest() -> Attempt:
    made = line()
    return Attempt(made, closed(made), {"trust": Trust(contract_digest=_other(made, _threshold).digest)})


def b15_other_contract_other_keys() -> Attempt:
    made = line()
    spki = key_of(make_signer(PKI_NOW, "Otra auditora", None)).spki_sha256

    def rekeyed(tree: dict) -> None:
        tree["report"]["signature"]["auditor_spki_sha256"] = spki
        tree["parties"]["auditor"]["keys"][0]["spki_sha256"] = spki

    return Attempt(made, closed(made), {"trust": Trust(contract=_other(made, rekeyed, again=False))})


def b16_other_run() -> Attempt:
    made = line()
    return Attempt(made, closed(made), {"run_id": made.header.run_id[:-1] + "2"})


def b17_replayed_report() -> Attempt:
    made = line()
    files = closed(made)
    return Attempt(made, files, {"pdf": pdf(made, files), "report_id": "demo-normativa-cl-0002"})


def b18_ledger_fork() -> Attempt:
    """A witness holds a checkpoint of the same size over another ledger."""
    made = line()
    note = sign_checkpoint(made.view.origin, made.view.size, b"\x07" * 32, made.custodian)
    return Attempt(made, closed(made), {"checkpoint": note})


def b19_ledger_truncated() -> Attempt:
    made = line()
    rows = made.files[LEDGER].splitlines(keepends=True)
    return Attempt(made, closed(made, {LEDGER: b"".join(rows[:-1])}))


def b19_ledger_truncated_with_its_head() -> Attempt:
    made = line()
    rows = made.files[LEDGER].splitlines(keepends=True)
    view = made.view.upto(len(rows) - 1)
    header = replace(made.header, ledger=replace(made.header.ledger, size=view.size, root=view.root.hex()))
    return Attempt(made, closed(made, {LEDGER: b"".join(rows[:-1])}, header=header))


def b20_hidden_aborted_run() -> Attempt:
    """Custodian and auditor write the ledger again without the aborted first run: the second is all there ever was."""
    made = line()
    lines: list[bytes] = []
    keys = {key.key_id: key for key in (made.custodian, made.examiner)}
    for entry in made.view:
        tree = json.loads(entry.line)
        signers = [keys[one["key"]] for one in tree.pop("sigs")]
        if tree["data"].get("run") == 1:
            tree["data"]["run"] = 2
        if lines:
            tree["prev"] = parse_entry(lines[-1], "").digest
        lines.append(write_line(tree, signers))
    return Attempt(made, closed(made, {LEDGER: b"".join(row + b"\n" for row in lines)}))


def b21_backdated_token() -> Attempt:
    made = line()
    return Attempt(made, closed(made, at=made.closing_time - timedelta(minutes=20)))


def b22_late_token() -> Attempt:
    made = line()
    return Attempt(made, closed(made, at=made.closing_time + timedelta(days=31)))


def b23_revoked_key_before() -> Attempt:
    made = line(revoked_after=timedelta(seconds=1))
    return Attempt(made, closed(made))


def b24_revoked_key_after() -> Attempt:
    made = line(revoked_after=timedelta(days=1))
    return Attempt(made, closed(made))


def _says_breach(tree: dict) -> None:
    tree["state"] = "BREACH"
    tree["metrics"][0]["state"] = "BREACH"


def b27_state_edited_and_resigned() -> Attempt:
    made = line()
    return Attempt(made, closed(made, {DECISION: edited(made.files[DECISION], _says_breach)}))


def b28_verdict_edited_and_resigned() -> Attempt:
    made = line()
    return Attempt(made, closed(made, {SCORES: edited_line(made.files[SCORES], 3, _misjudge)}))


def _misjudge(row: dict) -> None:
    row.update(verdict="incorrect")


def b28_verdicts_and_all_that_follows_edited() -> Attempt:
    """Every wrong answer made right, and counts, results and decision computed anew from there."""
    made = line(14)
    rows = [json.loads(row) for row in made.files[SCORES].splitlines()]
    for row in rows:
        if row["verdict"] == "incorrect":
            row.update(verdict="accurate", correctness="correct")
    scores = jsonl(rows)
    changes = {SCORES: scores, **decided(made.contract, {**made.files, SCORES: scores}, 1)}
    assert json.loads(changes[DECISION])["state"] == "PASS"
    return Attempt(made, closed(made, changes), {"annex": made.annex})


def b29_limitation_removed_and_resigned() -> Attempt:
    made = line()
    return Attempt(
        made, closed(made, {LIMITATIONS: edited(made.files[LIMITATIONS], lambda tree: tree["items"].pop(0))})
    )


def b35_annex_truncated() -> Attempt:
    """The annex was cut before the manifest was signed: only who holds an identity can see it."""
    made = line()
    whole = closed(made)
    cut = whole[ANNEX][:-40]
    tree = json.loads(whole["manifest.json"])
    tree["annex"].update(size=len(cut), sha256=sha256_hex(cut))
    files = forced({**whole, "manifest.json": jcs(tree)}, ANNEX, cut)
    entry = parse_manifest(files["manifest.json"]).annex
    assert entry is not None
    opened: object
    try:
        opened = open_annex(cut, entry, made.examiner.age_identity)
    except SlaverifyError as error:
        opened = error
    return Attempt(made, signed(files, at=made.closing_time), {"annex": opened})


def b36_annex_recipient_not_in_contract() -> Attempt:
    made = line()
    whole = closed(made)
    tree = json.loads(whole["manifest.json"])
    tree["annex"]["recipients"][0]["name"] = "proveedor"
    return Attempt(made, signed({**whole, "manifest.json": jcs(tree)}, at=made.closing_time))


def b37_public_edition() -> Attempt:
    made = line()
    return Attempt(made, public(closed(made)))


def b38_checkpoint_other_origin_same_key() -> Attempt:
    made = line()
    note = sign_checkpoint("otra/ledger/00000000", made.view.size, made.view.root, made.custodian)
    return Attempt(made, closed(made), {"checkpoint": note})


def b39_no_outside_pin() -> Attempt:
    made = line()
    return Attempt(made, closed(made), {"trust": Trust()})


def b40_demo_keys() -> Attempt:
    """The token alone is of the demonstration: that is enough."""
    made, demo = line(), Tsa(make_authority(PKI_NOW))
    files = signed(closed(made), authority=demo, at=made.closing_time)
    roots = (demo.root, tsa().root)
    return Attempt(made, files, {"trust": Trust(auditor_spki=auditor().spki_sha256, tsa_roots=roots)})


def _page(says: str, change: Callable[[bytes], bytes] = bytes) -> Attempt:
    """A page signed by the auditor beside the one that its own data make."""
    made = line(8)
    files = closed(made)
    model = report(made, files)
    drawn = change(unsigned(model, files["manifest.json"], says))
    stamper = Tsa(tsa().identity, made.closing_time).stamper()
    paper = sign_pdf(drawn, auditor(), stamper.stamp_digest)
    # The page is drawn once: of the whole variable font two drawings would carry two times of day.
    again = Rerendered(unsigned(model, files["manifest.json"], "Informe"), VERSIONS)
    return Attempt(made, files, {"pdf": paper, "rerendered": again, "strict": True})


def pdf00_untouched() -> Attempt:
    return _page("Informe")


def pdf20_hidden_layer_presigned() -> Attempt:
    def hide(page: bytes) -> bytes:
        out = BytesIO()
        with pikepdf.open(BytesIO(page)) as opened:
            group = opened.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name=pikepdf.String("oculta")))
            order = pikepdf.Dictionary(OFF=pikepdf.Array([group]))
            opened.Root.OCProperties = pikepdf.Dictionary(OCGs=pikepdf.Array([group]), D=order)
            opened.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False)
        return out.getvalue()

    return _page("Informe", hide)


def pdf21_page_contradicts_json() -> Attempt:
    """Signed by the auditor: the page says PASS, the data attached to it are the honest, inconclusive ones."""
    return _page("CUMPLE")


FIXTURES: dict[str, Callable[[], Attempt]] = {
    name: value
    for name, value in sorted(globals().items())
    if (name.startswith("b") and name[1:3].isdigit()) or (name.startswith("pdf") and name[3:5].isdigit())
}

"""Wait for the witnesses that a contract asks for: at the start, and when the scores are committed.

A quorum is a step of other people: the walk stops with exit 6 and says which files to send, and goes on when enough
signatures lie beside the checkpoint.
"""

from __future__ import annotations

import shlex

from slaverify.audit.session import Session
from slaverify.custody import signers, verify_checkpoint
from slaverify.custody.checkpoints import CheckpointFile
from slaverify.errors import CustodyError, Text


def await_witnesses(session: Session, checkpoint: CheckpointFile) -> None:
    """Raise unless the contract's quorum signed `checkpoint`. Raises: CustodyError SLV-K029 (exit 6, resumable)."""
    terms = session.terms
    proven = verify_checkpoint(checkpoint.data, terms.checkpoint_policy(quorum=0), session.ports.clock())
    signed = [one.name for one in signers(proven, terms, checkpoint.ssh_signatures)]
    if len(signed) >= terms.quorum:
        return
    missing = [one.name for one in terms.witnesses if one.name not in signed]
    folder = shlex.quote(str(session.bank_folder))
    ask = f"slaverify custody witness request {folder} --size {checkpoint.size}"
    add = f"slaverify custody witness add {folder} FILE --size {checkpoint.size} --contract"
    raise CustodyError(
        "SLV-K029",
        Text(
            f"firman {len(signed)} testigos de {terms.quorum} sobre {checkpoint.size} entradas; faltan: "
            f"{', '.join(missing)}",
            f"{len(signed)} witnesses of {terms.quorum} signed {checkpoint.size} entries; missing: "
            f"{', '.join(missing)}",
        ),
        why=Text("nada se perdió; la corrida espera a los testigos", "nothing was lost; the run waits for witnesses"),
        fix=Text(
            f"pida la firma ({ask}), agréguela ({add} …) y siga",
            f"ask for it ({ask}), add it ({add} …) and go on",
        ),
        where=str(checkpoint.path),
        exit_code=6,
    )

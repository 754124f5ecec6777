"""Run the demonstration and tell a person what happened and what to do next."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.cli.demo.stage import CONTRACTS, Stage, stage
from slaverify.cli.language import language, t
from slaverify.cli.output import out, say
from slaverify.cli.wiring import now

if TYPE_CHECKING:
    from slaverify.audit.walk import Progressed
    from slaverify.verify import Verification


def run_demo(destination: Path | None, engine: str, lang: str, as_json: bool, kind: str = "norm") -> int:
    """Walk the line with a simulated engine; return the exit code of the verdict (or of a failed verification)."""
    from slaverify.audit.walk import audit, progress_of
    from slaverify.cli.verdicts import show_verdict
    from slaverify.cli.wiring import session_for
    from slaverify.contract.load import load_contract

    folder = destination or Path("salida") / f"demo-{engine if kind == 'norm' else f'{kind}-{engine}'}-{_stamp(now())}"
    with stage(folder, engine, lang, kind) as made:
        say(t("DEMOSTRACIÓN · claves y sellos SIN VALOR PROBATORIO", "DEMONSTRATION · NO EVIDENTIARY VALUE"))
        say(t(f"carpeta: {made.folder}", f"folder: {made.folder}"))
        session = session_for(load_contract(made.contract), made.bank, made.out, made.signing_key, made.keys)
        done = audit(session, resume=False, authorised_by=made.signatory)
        code = show_verdict(progress_of(session, done.number), as_json)
    verified = [_verified(made, path) for path in _reports(done)]
    if not as_json:
        _say_verifications(verified)
        _say_next(made, done, CONTRACTS[kind])
    failed = [one.exit_code for _, one in verified if one.exit_code != 0]
    return max(failed, default=code)


def _reports(done: Progressed) -> list[Path]:
    """Return the reports, the reader's own language first."""
    found = sorted((done.folder / "report").glob("*.pdf"))
    return sorted(found, key=lambda path: not path.stem.endswith(f".{language()}"))


def _verified(made: Stage, pdf: Path) -> tuple[Path, Verification]:
    from slaverify.cli.checks import Pinned, open_files, verify_files

    bundle = next(pdf.parent.glob("*.parties.zip"))
    found = verify_files(
        open_files([pdf, bundle]),
        Pinned(contract=made.contract),
        now(),
        identity=made.arbitrator_identity,
        rerender=True,
        allow_demo=True,
    )
    return pdf, found


def _say_verifications(verified: list[tuple[Path, Verification]]) -> None:
    from slaverify.verify import render_text

    for number, (path, found) in enumerate(verified):
        out()
        out(t(f"Verificación de {path.name}", f"Verification of {path.name}"))
        text = render_text(found, language()).rstrip("\n")
        # The checks are the same for each language of the report: the first is shown whole, of others the outcome.
        out(text if number == 0 else text.partition("\n")[0])


def _say_next(made: Stage, done: Progressed, example: str) -> None:
    first = _reports(done)[0]
    bundle = next(first.parent.glob("*.parties.zip"))
    out()
    out(t("Qué haría ahora una persona:", "What a person would do next:"))
    out(t(f"  1. Abrir el informe: {first}", f"  1. Open the report: {first}"))
    out(t("  2. Verificarlo en otra máquina, sin red:", "  2. Verify it on another machine, offline:"))
    out(
        f"     slaverify verify {first} --bundle {bundle} --contract {made.contract} "
        f"--identity {made.arbitrator_identity} --rerender --allow-demo"
    )
    out(
        t(
            f"  3. Para un contrato de verdad: copiar contratos/{example}, cambiar lo marcado [DEMO] y "
            "seguir la guía de README.md",
            f"  3. For a real contract: copy contratos/{example}, change what is marked [DEMO], and follow "
            "the guide in README.md",
        )
    )


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%d-%H%M%S")

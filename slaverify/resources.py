"""Find the folders that are installed with the package: templates, example contracts, the demo bank."""

from __future__ import annotations

from pathlib import Path

from slaverify.errors import ApplicationError, Text


def resource(*parts: str) -> Path:
    """Return the path of an installed file or folder, e.g. `resource("plantillas", "report.css")`.

    An editable install does not carry the data folders: there the repository root has them.
    Raises: ApplicationError SLV-A070 if the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "_data", package.parent):
        candidate = root.joinpath(*parts)
        if candidate.exists():
            return candidate
    raise ApplicationError(
        "SLV-A070",
        Text(f"falta un archivo de la instalación: {'/'.join(parts)}", f"installed file missing: {'/'.join(parts)}"),
        fix=Text("reinstale el paquete", "install the package again"),
        exit_code=70,
    )

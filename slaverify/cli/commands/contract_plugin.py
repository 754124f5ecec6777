"""`slaverify contract plugin`: the lines that pin an installed plug-in."""

from __future__ import annotations

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(help=t("Imprime las líneas que fijan un complemento.", "Print the lines that pin a plug-in."))(plugin)


def plugin(
    name: str = typer.Argument(..., metavar="PACKAGE", help=t("Paquete instalado.", "Installed package.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Print name, version and digest of an installed package as a contract pins them; nothing of it is run."""
    from slaverify.engine.plugins import installed_pin

    pin, adapters = installed_pin(name)
    if as_json:
        emit(
            {
                "type": "slaverify/plugin/1",
                "name": pin.name,
                "version": pin.version,
                "package_digest": pin.package_digest,
                "adapters": list(adapters),
            }
        )
        return 0
    out("method:\n  plugins:")
    out(f'    - {{name: {pin.name}, version: "{pin.version}", package_digest: "{pin.package_digest}"}}')
    if adapters:
        out(f"endpoint:\n  adapter: {adapters[0]}")
    else:
        say(t("este paquete no ofrece ningún adaptador", "this package offers no adapter"))
    return 0

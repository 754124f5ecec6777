"""The errors of a run that a person may see (SLV-N030 to N049)."""

from __future__ import annotations

import sqlite3

from slaverify.errors import EndpointError, Text

_FULL = {"SQLITE_FULL", "SQLITE_IOERR", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_READONLY"}


def journal_error(es: str, en: str, where: str = "") -> EndpointError:
    """Return the refusal of a journal that is not what it should be (exit 5): nothing is repaired."""
    return EndpointError(
        "SLV-N030",
        Text(f"el diario de la corrida no cuadra: {es}", f"the journal of the run does not fit: {en}"),
        why=Text("no se repara nada por su cuenta", "nothing is repaired by itself"),
        fix=Text("restaure el diario de esta corrida, o abra otra", "restore the journal of this run, or open another"),
        where=where,
        exit_code=5,
    )


def busy_error(where: str) -> EndpointError:
    """Return the refusal of a second process on one journal (exit 2)."""
    return EndpointError(
        "SLV-N031",
        Text("otro proceso está usando el diario de esta corrida", "another process is using the journal of this run"),
        fix=Text("espere a que termine", "wait until it ends"),
        where=where,
        exit_code=2,
    )


def disk_error(error: sqlite3.Error) -> EndpointError:
    """Return what a failed write means: the disk (exit 6), or a journal that is not sound (exit 5)."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return EndpointError(
            "SLV-N037",
            Text("otro programa tiene bloqueado el diario", "another program holds the journal locked"),
            why=Text("se esperó 5 segundos; nada se perdió", "waited for 5 seconds; nothing was lost"),
            fix=Text("cierre ese programa y siga con --resume", "close that program and go on with --resume"),
            exit_code=6,
        )
    if name in _FULL or name.startswith("SQLITE_IOERR"):
        return EndpointError(
            "SLV-N032",
            Text(
                "no se puede escribir el diario: disco lleno o con fallas",
                "the journal cannot be written: disk full or failing",
            ),
            fix=Text("libere espacio y siga con --resume", "free space and go on with --resume"),
            exit_code=6,
        )
    return journal_error(f"{name or 'SQLite'}: {error}", f"{name or 'SQLite'}: {error}")


def network_disk_error(kind: str, where: str) -> EndpointError:
    """Return the refusal of a journal on a network file system (exit 2)."""
    return EndpointError(
        "SLV-N033",
        Text(
            f"el diario no puede estar en un disco de red ({kind})", f"the journal cannot be on a network disk ({kind})"
        ),
        why=Text(
            "allí no hay garantía de que lo escrito quede escrito", "there what is written is not sure to stay written"
        ),
        fix=Text("use una carpeta local en --out", "use a local folder in --out"),
        where=where,
        exit_code=2,
    )


def permit_error(es: str, en: str) -> EndpointError:
    """Return the refusal of a permit that is of another run (exit 5): no byte leaves."""
    return EndpointError(
        "SLV-N034",
        Text(f"el permiso es de otra corrida: {es}", f"the permit is of another run: {en}"),
        why=Text(
            "ningún ítem sorteado sale sin el permiso de su corrida", "no drawn item leaves without its run's permit"
        ),
        exit_code=5,
    )


def window_error(start: str) -> EndpointError:
    """Return the refusal of a run before the contract's window (exit 6)."""
    return EndpointError(
        "SLV-N035",
        Text(f"la ventana del contrato se abre el {start}", f"the contract's window opens at {start}"),
        fix=Text("espere hasta entonces y siga con --resume", "wait until then and go on with --resume"),
        exit_code=6,
    )


def old_sqlite_error(version: str) -> EndpointError:
    """Return the refusal of a SQLite that is too old (exit 6)."""
    return EndpointError(
        "SLV-N036",
        Text(f"SQLite {version} es muy antiguo: hace falta 3.40", f"SQLite {version} is too old: 3.40 is due"),
        fix=Text("instale una versión más nueva de Python", "install a newer Python"),
        exit_code=6,
    )


def relay_error() -> EndpointError:
    """Return what it means that the process which talks to the endpoint has ended (exit 6)."""
    return EndpointError(
        "SLV-N038",
        Text(
            "se terminó el proceso que habla con el servicio del proveedor",
            "the process that talks to the vendor's endpoint has ended",
        ),
        why=Text(
            "no se sabe qué pasó con lo que tenía en curso: no cuenta como respuesta ni como falla del proveedor",
            "what became of what it had under way is not known: it counts neither as an answer nor as a failure of the"
            " vendor",
        ),
        fix=Text("siga con --resume", "go on with --resume"),
        exit_code=6,
    )

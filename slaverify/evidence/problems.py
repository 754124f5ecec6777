"""The refusals of this room, each with its code and its mend.

SLV-E001 not a bundle, E002 archive bytes, E003 limit, E004 name, E005 link or unlisted file, E006 content
differs from the manifest, E007 manifest malformed, E008 SHA256SUMS, E009 record file, E010 key unfit to sign,
E011 key file or passphrase, E012 annex recipient, E013 annex unreadable; SLV-R020 no timestamp authority.
"""

from __future__ import annotations

from slaverify.errors import NOTHING, EvidenceError, ReportError, Text

_ASK_AGAIN = Text(
    "pida el archivo otra vez a quien lo emitió; no lo repare", "ask its issuer for the file again; do not repair it"
)


def not_a_bundle(where: str, detail: Text) -> EvidenceError:
    """Return SLV-E001: what was given is neither a folder nor an archive of a bundle."""
    return EvidenceError(
        "SLV-E001",
        Text("esto no es un paquete de evidencia", "this is not an evidence bundle"),
        why=detail,
        where=where,
    )


def archive_bytes(where: str, detail: Text) -> EvidenceError:
    """Return SLV-E002: the archive holds a byte that its own content does not explain."""
    return EvidenceError(
        "SLV-E002",
        Text("el archivo ZIP no tiene la única forma admitida", "the ZIP archive is not in the one accepted form"),
        why=detail,
        fix=_ASK_AGAIN,
        where=where,
    )


def over_limit(where: str, limit: int) -> EvidenceError:
    """Return SLV-E003: more than `limit` (bytes, or files where the place says so)."""
    return EvidenceError(
        "SLV-E003",
        Text(f"sobrepasa el límite de {limit}", f"over the limit of {limit}"),
        where=where,
    )


def bad_name(where: str) -> EvidenceError:
    """Return SLV-E004: a path that a bundle never has."""
    return EvidenceError(
        "SLV-E004",
        Text("nombre de archivo no admitido en un paquete", "file name not accepted in a bundle"),
        fix=_ASK_AGAIN,
        where=where,
    )


def not_listed(where: str) -> EvidenceError:
    """Return SLV-E005: a link, a device or a file that the manifest does not list."""
    return EvidenceError(
        "SLV-E005",
        Text(
            "enlace, dispositivo o archivo que el manifiesto no nombra",
            "a link, a device or a file that the manifest does not name",
        ),
        fix=Text("quítelo de la carpeta; no es parte de la evidencia", "take it out; it is no part of the evidence"),
        where=where,
    )


def differs(where: str, detail: Text) -> EvidenceError:
    """Return SLV-E006: a file is missing, or its size or digest is not the manifest's."""
    return EvidenceError(
        "SLV-E006",
        Text("el contenido no es el que nombra el manifiesto", "the content is not the one that the manifest names"),
        why=detail,
        fix=_ASK_AGAIN,
        where=where,
    )


def bad_manifest(detail: str) -> EvidenceError:
    """Return SLV-E007: manifest.json does not follow its schema."""
    return EvidenceError(
        "SLV-E007",
        Text("manifest.json no sigue su esquema", "manifest.json does not follow its schema"),
        why=Text(detail, detail),
        fix=_ASK_AGAIN,
        where="manifest.json",
    )


def bad_record(where: str, detail: str) -> EvidenceError:
    """Return SLV-E009: a record file is not strict JSON of the bundle's form."""
    return EvidenceError(
        "SLV-E009",
        Text("el archivo no es JSON estricto del paquete", "the file is not the bundle's strict JSON"),
        why=Text(detail, detail),
        fix=_ASK_AGAIN,
        where=where,
    )


def unfit_key(detail: Text, where: str = "") -> ReportError:
    """Return SLV-R021: the key or its certificate may not sign a report."""
    return ReportError(
        "SLV-R021",
        Text("la clave de firma no sirve para firmar un informe", "the signing key is not fit to sign a report"),
        why=detail,
        fix=Text(
            "use una clave P-256, P-384 o RSA de 3072 bits o más, con su certificado X.509 y uso de firma",
            "use a P-256, P-384 or RSA key of 3072 bits or more, with its X.509 certificate and a signing usage",
        ),
        where=where,
    )


def unreadable_key(where: str, detail: Text = NOTHING) -> ReportError:
    """Return SLV-R022: the key file cannot be read, or the passphrase is not its own."""
    return ReportError(
        "SLV-R022",
        Text("no se pudo abrir la clave de firma", "the signing key could not be opened"),
        why=detail,
        fix=Text("revise el archivo y la frase de contraseña", "check the file and the passphrase"),
        where=where,
    )


def no_timestamp(where: str, detail: Text) -> ReportError:
    """Return SLV-R020: no timestamp authority of the list answered with a valid token (exit 6, resumable)."""
    return ReportError(
        "SLV-R020",
        Text(
            "ninguna autoridad de sellado de tiempo respondió; no se firmó nada",
            "no timestamp authority answered; nothing was signed",
        ),
        why=detail,
        fix=Text("repita más tarde la misma orden", "type the same command later"),
        where=where,
        exit_code=6,
    )


def bad_recipient(where: str, detail: Text) -> EvidenceError:
    """Return SLV-E012: a recipient that the annex may not have."""
    return EvidenceError(
        "SLV-E012",
        Text("destinatario no admitido para el anexo sellado", "recipient not accepted for the sealed annex"),
        why=detail,
        fix=Text("corrija report.annex_recipients del contrato", "correct report.annex_recipients in the contract"),
        where=where,
        exit_code=2,
    )


def bad_annex(detail: Text) -> EvidenceError:
    """Return SLV-E013: the sealed annex cannot be opened, or is not what the manifest names."""
    return EvidenceError(
        "SLV-E013",
        Text("el anexo sellado no se pudo abrir entero", "the sealed annex could not be opened whole"),
        why=detail,
        where="sealed/annex.age",
    )

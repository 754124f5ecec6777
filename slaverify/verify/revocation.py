"""V14, revocation lists: what was handed in or is kept in the file, against each certificate at its token's time.

A list proves for a moment if it was current then, or was published later while the certificate still ran. A list that
was handed in and is of no use leaves the rule open: a check that was asked for is never dropped in silence.

Source: docs/spec/verification.md (V14); RFC 5280 section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from slaverify.errors import Text
from slaverify.evidence import B_LTA, CertificateFacts, CmsFacts, RevocationList, SignatureFacts
from slaverify.verify.checks import EXIT_PIN, Part, failed, noted, skipped
from slaverify.verify.signature_times import utc


@dataclass(frozen=True, slots=True)
class _Asked:
    """A certificate of a path and the moment at which it must not be revoked."""

    certificate: CertificateFacts
    at: datetime


def revocation_parts(facts: SignatureFacts, given: tuple[bytes, ...], level: str) -> list[Part]:
    """Return the parts of V14 that lists decide. `given`: lists that the caller handed in, DER or PEM."""
    asked = _asked(facts)
    every = [one.certificate for one in asked]
    # Only here is pyHanko's package needed; a PDF or an envelope has loaded it already.
    from slaverify.evidence.pades.revocation import read_list

    handed = [read_list(data, every) for data in given]
    kept = [read_list(data, every) for data in facts.archived_lists]
    parts: list[Part] = []
    for one in asked:
        parts += _revoked(one, [*handed, *kept])
    parts += [_useless(found) for found in handed if found.problem]
    proved = {one.certificate.sha256 for one in asked if any(_proves(found, one) for found in [*handed, *kept])}
    stale = [found for found in handed if not found.problem and not any(_proves(found, one) for one in asked)]
    parts += [_stale(found) for found in stale]
    parts += _open(asked, proved, level, facts.signer)
    return parts


def _asked(facts: SignatureFacts) -> list[_Asked]:
    found: dict[tuple[str, datetime], _Asked] = {}
    tokens = [token for token in (facts.token, *facts.document_timestamps) if token is not None]
    if facts.token is not None:
        for certificate in _path(facts.cms):
            found[certificate.sha256, facts.token.at] = _Asked(certificate, facts.token.at)
    for token in tokens:
        for certificate in _path(token.cms):
            found[certificate.sha256, token.at] = _Asked(certificate, token.at)
    return list(found.values())


def _path(cms: CmsFacts | None) -> tuple[CertificateFacts, ...]:
    return () if cms is None else (*cms.path, *(() if cms.signer in cms.path else (cms.signer,)))


def _revoked(one: _Asked, lists: list[RevocationList]) -> Iterator[Part]:
    moments = [found.revoked[one.certificate.sha256] for found in lists if one.certificate.sha256 in found.revoked]
    if not moments:
        return
    since, name = min(moments), one.certificate.subject
    if since <= one.at:
        yield failed(
            Text(f"certificado revocado antes del sello: {name}", f"certificate revoked before the token: {name}"),
            expected=f"< {utc(since)}",
            found=utc(one.at),
            exit_code=EXIT_PIN,
        )
    else:
        yield noted(
            Text(
                f"certificado revocado después, el {utc(since)}: {name}",
                f"certificate revoked later, on {utc(since)}: {name}",
            )
        )


def _proves(found: RevocationList, one: _Asked) -> bool:
    certificate = one.certificate
    if found.problem or certificate.sha256 not in found.covers or found.this_update is None:
        return False
    if found.this_update > one.at:
        # Of an expired certificate an issuer need not say any more that it was revoked.
        return found.this_update <= certificate.not_after
    return found.next_update is not None and one.at <= found.next_update


def _useless(found: RevocationList) -> Part:
    return skipped(
        Text(
            f"la lista {found.sha256[:16]} no sirve: {found.problem}",
            f"list {found.sha256[:16]} is no use: {found.problem}",
        ),
        Text("dé la lista del emisor del certificado", "give the list of the certificate's issuer"),
    )


def _stale(found: RevocationList) -> Part:
    return skipped(
        Text(
            f"la lista {found.sha256[:16]} no alcanza a la hora del sello",
            f"list {found.sha256[:16]} does not reach the time of the token",
        ),
        Text("dé una lista vigente entonces, o posterior", "give one that was current then, or a later one"),
    )


def _open(asked: list[_Asked], proved: set[str], level: str, signer: CertificateFacts | None) -> Iterator[Part]:
    """Say what no list covered: an omission at B-LTA where the certificate names its list, else only not performed."""
    left = {one.certificate.sha256: one.certificate for one in asked if one.certificate.sha256 not in proved}
    named = [certificate for certificate in left.values() if certificate.names_list]
    if level == B_LTA and named:
        names = ", ".join(sorted(certificate.subject for certificate in named))
        yield skipped(
            Text(f"B-LTA sin lista de revocación de: {names}", f"B-LTA without the revocation list of: {names}"),
            Text("agregue --crl con la lista del emisor", "add --crl with the issuer's list"),
        )
    elif signer is None or signer.sha256 not in proved:
        yield skipped(
            Text("no se consultó ninguna lista de revocación", "no revocation list was consulted"),
            Text("agregue --crl con la lista del emisor", "add --crl with the issuer's list"),
            optional=True,
        )

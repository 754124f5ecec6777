"""One CMS signature judged by pyHanko with explicit roots, no fetching and the moment of the token.

Whatever raises here is the caller's: it fails the rule that the fact served.

Source: RFC 5652, RFC 5035 (signing certificate), RFC 5280 (path).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from hashlib import sha1, sha256
from typing import Any, TypeVar

from asn1crypto import cms, x509
from pyhanko.sign.general import extract_signer_info
from pyhanko.sign.validation.generic_cms import async_validate_cms_signature, get_signing_cert_attr
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext

from slaverify.evidence.pades.certificates import facts_of, signs_itself
from slaverify.evidence.pades.shape import Frame
from slaverify.evidence.signature_facts import CmsFacts

_Result = TypeVar("_Result")

SIGNER_USAGE = KeyUsageConstraints(key_usage={"non_repudiation", "digital_signature"}, match_all_key_usages=False)
TOKEN_USAGE = KeyUsageConstraints(
    key_usage=set(), extd_key_usage={"time_stamping"}, explicit_extd_key_usage_required=True
)
_NO_ROOT = "no root is pinned"
_NO_MOMENT = "no token gives the moment"


def run(job: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run one coroutine to its end, also where an event loop already runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(job())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(job())).result()


def signed_data_of(der: bytes) -> cms.SignedData:
    """Return the SignedData of a ContentInfo that is exactly `der`. Raises: ValueError.

    asn1crypto parses lazily and leniently: the frame is compared byte by byte elsewhere (`shape`), and any later
    access that raises fails the rule that it served.
    """
    info = cms.ContentInfo.load(der, strict=True)
    if info["content_type"].native != "signed_data":
        raise ValueError("no signed data")
    return info["content"]


def judge(
    der: bytes,
    frame: Frame,
    *,
    digest: bytes | None,
    roots: tuple[x509.Certificate, ...],
    moment: datetime | None,
    usage: KeyUsageConstraints,
    pinned: tuple[str, ...] = (),
) -> CmsFacts:
    """Return the facts of the CMS signature `der`.

    `digest`: SHA-256 of the detached data, None if the content is inside. `pinned`: SHA-256 of certificates
    that the verifier knows whole.
    """
    signed_data = signed_data_of(der)
    context = ValidationContext(
        trust_roots=list(roots), moment=moment, allow_fetching=False, other_certs=[], revocation_mode="soft-fail"
    )
    found = run(
        lambda: async_validate_cms_signature(
            signed_data, raw_digest=digest, validation_context=context, key_usage_settings=usage
        )
    )
    signer = found.signing_cert.dump()
    problem = found.trust_problem_indic
    path = found.validation_path
    on_path = (
        [] if path is None or problem is not None else [entry.dump() for entry in path.iter_certs(include_root=True)]
    )
    known = {*on_path, *(root.dump() for root in roots)}
    trusted = bool(roots) and moment is not None and problem is None and path is not None
    reason = "" if trusted else _NO_ROOT if not roots else _NO_MOMENT if moment is None else str(problem)
    return CmsFacts(
        shape=frame.problems if signer == frame.signer else (*frame.problems, "signer"),
        intact=bool(found.intact),
        valid=bool(found.valid),
        trusted=trusted,
        trust_problem=reason,
        vouched=_vouched(signed_data, signer, len(on_path), pinned),
        signer=facts_of(signer),
        stray=tuple(sha256(entry).hexdigest() for entry in frame.certificates if entry not in known),
        path=tuple(facts_of(entry) for entry in on_path),
    )


def _vouched(signed_data: cms.SignedData, signer: bytes, path_length: int, pinned: tuple[str, ...]) -> bool:
    if sha256(signer).hexdigest() in pinned or path_length > 1:
        return True
    return _names_it(signed_data, signer) or signs_itself(signer)


def _names_it(signed_data: cms.SignedData, signer: bytes) -> bool:
    attribute = get_signing_cert_attr(extract_signer_info(signed_data)["signed_attrs"])
    if attribute is None:
        return False
    first = attribute["certs"][0]
    value = first["cert_hash"].native
    algorithm = first["hash_algorithm"].native["algorithm"] if "hash_algorithm" in first.native else "sha1"
    known = {"sha1": sha1, "sha256": sha256}.get(algorithm)
    return known is not None and bool(value == known(signer).digest())

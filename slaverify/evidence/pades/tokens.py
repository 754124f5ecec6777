"""RFC 3161: the request, the reply that is accepted, and a token as facts.

Source: RFC 3161 sections 2.4.1 and 2.4.2, RFC 5816.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from asn1crypto import algos, tsp

from slaverify.evidence.pades.certificates import roots_of
from slaverify.evidence.pades.shape import Kind, plain_reply, read_frame, reply_problems, token_of_reply
from slaverify.evidence.pades.validation import TOKEN_USAGE, judge, signed_data_of
from slaverify.evidence.signature_facts import TokenFacts


class ReplyError(ValueError):
    """A reply of an authority that is not the token that was asked for."""


def build_request(digest: bytes, nonce: int) -> bytes:
    """Return the DER of a request for a token over the SHA-256 `digest`, with `nonce` and the certificate."""
    imprint = {"hash_algorithm": algos.DigestAlgorithm({"algorithm": "sha256"}), "hashed_message": digest}
    return bytes(tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "nonce": nonce, "cert_req": True}).dump())


def accept_reply(reply: bytes, digest: bytes, nonce: int) -> bytes:
    """Return the token of `reply` if it is granted over `digest` with `nonce`. Trust is judged elsewhere.

    Raises: ReplyError.
    """
    try:
        token = token_of_reply(reply)
        read_frame(token, Kind.TOKEN)
        info = _tst_info(token)
        same_nonce = info["nonce"].native == nonce
        same_imprint = _imprint(info) == digest
    except Exception as error:
        # Bytes from anybody: whatever the parsers raise means the same.
        raise ReplyError(f"malformed reply: {type(error).__name__}") from error
    if not same_nonce or not same_imprint:
        raise ReplyError("other nonce or imprint")
    return token


def normal_reply(reply: bytes, digest: bytes, nonce: int) -> bytes:
    """Return an accepted reply as it is kept: status granted and the token, no text. Raises: ReplyError."""
    return plain_reply(accept_reply(reply, digest, nonce))


def token_facts(token: bytes, digest: bytes, roots: tuple[str, ...]) -> TokenFacts:
    """Read a token over a SHA-256 `digest` against PEM roots, at its own time. Raises whatever the parsers raise."""
    info = _tst_info(token)
    at: datetime = info["gen_time"].native
    frame = read_frame(token, Kind.TOKEN)
    cms = judge(token, frame, digest=None, roots=roots_of(roots), moment=at, usage=TOKEN_USAGE)
    return TokenFacts(
        cms=cms,
        at=at,
        accuracy_ms=_accuracy_ms(info),
        policy=str(info["policy"].dotted),
        serial=format(info["serial_number"].native, "x"),
        imprint=_imprint(info).hex(),
        imprint_matches=_imprint(info) == digest,
    )


def reply_facts(reply: bytes, digest: bytes, roots: tuple[str, ...]) -> TokenFacts:
    """Read a whole reply (a `.tsr` file) over a SHA-256 `digest`. Raises whatever the parsers raise."""
    token = token_of_reply(reply)
    return replace(token_facts(token, digest, roots), reply_shape=reply_problems(reply, token))


def _tst_info(token: bytes) -> tsp.TSTInfo:
    info = signed_data_of(token)["encap_content_info"]["content"].parsed
    if not isinstance(info, tsp.TSTInfo):
        raise ReplyError("no TSTInfo")
    return info


def _imprint(info: tsp.TSTInfo) -> bytes:
    imprint = info["message_imprint"]
    if imprint["hash_algorithm"]["algorithm"].native != "sha256":
        raise ReplyError("imprint is not SHA-256")
    return bytes(imprint["hashed_message"].native)


def _accuracy_ms(info: tsp.TSTInfo) -> int | None:
    accuracy = info["accuracy"].native
    if accuracy is None:
        return None
    micros = accuracy["micros"] or 0
    # Rounded up: an accuracy is a bound.
    return (accuracy["seconds"] or 0) * 1000 + (accuracy["millis"] or 0) + -(-micros // 1000)

"""Read a signed PDF into facts: each group of facts is read apart, and what raises fails the rules that it serves.

Trust boundary: the file comes from anybody. The cross-reference chain is checked on the bytes first; then pyHanko
opens the file under its own decoding limits, and every object is resolved in the revision that was signed.

Source: ETSI EN 319 142-1; ISO 32000-1 12.8; docs/spec/bundle.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from typing import TypeVar

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import HistoricalResolver, PdfFileReader
from pyhanko.sign.diff_analysis import DEFAULT_DIFF_POLICY, DiffResult
from pyhanko.sign.fields import enumerate_sig_fields

from slaverify.evidence.layout import MAX_PDF, MAX_REPORT_JSON
from slaverify.evidence.pades.certificates import facts_of, signer_roots
from slaverify.evidence.pades.der import first
from slaverify.evidence.pades.metadata import same_metadata
from slaverify.evidence.pades.shape import Kind, read_frame
from slaverify.evidence.pades.tokens import token_facts
from slaverify.evidence.pades.validation import SIGNER_USAGE, judge, signed_data_of
from slaverify.evidence.pades.walk import structure_problems
from slaverify.evidence.pades.xref import chain_of, last_table
from slaverify.evidence.signature_facts import (
    B_LTA,
    Attachment,
    CertificateFacts,
    CmsFacts,
    Pins,
    SignatureFacts,
    TokenFacts,
)

_Fact = TypeVar("_Fact")

_GAP = re.compile(rb"<(?:[0-9A-F]{2})+>")
_ATTACHMENTS = 16
_FIELDS = 16
_LISTS = 16


def pdf_facts(pdf: bytes, pins: Pins | None) -> SignatureFacts:
    """Read everything that the rules V01 to V15 judge. Never raises for what is in the file.

    Without `pins` nothing is trusted: the facts then say at most that the file agrees with itself.
    """
    facts = SignatureFacts(size=len(pdf))
    try:
        chain = chain_of(pdf)
        reader = PdfFileReader(BytesIO(pdf))
        if reader.last_startxref != chain[0] or reader.total_revisions != len(chain) or reader.has_xref_stream:
            raise ValueError("two readers find different cross-reference tables")
        signatures = _signatures(reader)
    except Exception as error:  # noqa: BLE001 - whatever a hostile file makes the parsers raise, it is not readable
        return replace(facts, form_problem=_words(error))
    regular = [entry for entry in signatures if entry.kind == "/Sig"]
    facts = replace(facts, regular_signatures=len(regular))
    if len(regular) != 1:
        return facts
    return _Reading(pdf, reader, signatures, regular[0], pins).facts(facts)


@dataclass(frozen=True)
class _Signature:
    """A filled signature field: its dictionary, what it covers, its bytes, and the revision that wrote it."""

    dictionary: generic.DictionaryObject
    reference: generic.Reference
    kind: str
    byte_range: tuple[int, int, int, int]
    contents: bytes
    revision: int

    @property
    def covered(self) -> tuple[slice, slice]:
        start, length, second, tail = self.byte_range
        return slice(start, start + length), slice(second, second + tail)


class _Reading:
    """One PDF being read: the facts of each rule, and which rules lost theirs."""

    def __init__(
        self,
        pdf: bytes,
        reader: PdfFileReader,
        signatures: list[_Signature],
        signature: _Signature,
        pins: Pins | None,
    ) -> None:
        self._pdf = pdf
        self._reader = reader
        self._signatures = signatures
        self._signature = signature
        self._pins = pins
        self._broken: dict[str, str] = {}

    def facts(self, facts: SignatureFacts) -> SignatureFacts:
        """Return `facts` filled in."""
        later = self._reader.total_revisions - 1 - self._signature.revision
        token = self._serve("V07", self._token)
        level = "" if self._pins is None else self._pins.level
        filled = replace(
            facts,
            subfilter=self._serve("V03", lambda: str(self._signature.dictionary["/SubFilter"])) or "",
            token=token,
            signer=self._serve("V02", self._signer),
            cms=self._serve("V05", lambda: self._cms(token)),
            later_revisions=later,
            later_changes=self._serve("V06", lambda: self._changes(later > 0 and level == B_LTA)) or "",
            document_timestamps=self._serve("V08", self._document_timestamps) or (),
            last_covers_file=self._serve("V09", self._last_covers_file) or False,
            gap_problems=self._serve("V10", self._gap_problems) or (),
            signed_digest=self._serve("V12", self._signed_digest) or "",
            structure_problems=self._serve("V15", lambda: structure_problems(self._root())) or (),
            archived_lists=(self._serve("V14", lambda: _archived_lists(self._reader)) or ()) if level == B_LTA else (),
        )
        certified, permission = self._serve("V04", self._certification) or (False, None)
        attachments, problems = self._serve("V11", self._attachments) or ((), ())
        return replace(
            filled,
            certified=certified,
            docmdp=permission,
            attachments=attachments,
            attachment_problems=problems,
            broken=dict(self._broken),
        )

    def _serve(self, rule: str, read: Callable[[], _Fact]) -> _Fact | None:
        try:
            return read()
        except Exception as error:  # noqa: BLE001 - the one place where reading may fail: the rule then fails
            self._broken[rule] = _words(error)
            return None

    def _root(self) -> generic.DictionaryObject:
        return self._resolver().root

    def _resolver(self) -> HistoricalResolver:
        return self._reader.get_historical_resolver(self._signature.revision)

    def _covered_bytes(self, signature: _Signature) -> bytes:
        head, tail = signature.covered
        return self._pdf[head] + self._pdf[tail]

    def _certification(self) -> tuple[bool, int | None]:
        root = self._root()
        named = root["/Perms"].raw_get("/DocMDP").reference if "/Perms" in root else None
        certified = named is not None and _same(named, self._signature.reference)
        references = self._signature.dictionary["/Reference"]
        if len(references) != 1 or references[0]["/TransformMethod"] != "/DocMDP":
            return certified, None
        return certified, int(references[0]["/TransformParams"]["/P"])

    def _signer(self) -> CertificateFacts | None:
        named = read_frame(first(self._signature.contents).whole, Kind.PDF).signer
        return None if named is None else facts_of(named)

    def _token(self) -> TokenFacts | None:
        der = first(self._signature.contents).whole
        token = read_frame(der, Kind.PDF).token
        if token is None:
            return None
        roots = () if self._pins is None else self._pins.tsa_roots
        value = signed_data_of(der)["signer_infos"][0]["signature"].native
        return token_facts(token, sha256(value).digest(), roots)

    def _cms(self, token: TokenFacts | None) -> CmsFacts:
        der = first(self._signature.contents).whole
        pins = self._pins
        frame = read_frame(der, Kind.PDF)
        return judge(
            der,
            frame,
            digest=sha256(self._covered_bytes(self._signature)).digest(),
            roots=signer_roots(frame.certificates, pins),
            moment=None if token is None else token.at,
            usage=SIGNER_USAGE,
            pinned=() if pins is None else pins.auditor_certificates,
        )

    def _changes(self, compare: bool) -> str:
        # An update may repeat the signature's object: the revision that it then seems to sign is not covered.
        if not self._covers_its_revision():
            return "the signature does not cover its revision"
        if not compare:
            return ""
        result = DEFAULT_DIFF_POLICY.review_file(self._reader, self._signature.revision)
        if not isinstance(result, DiffResult):
            return str(result)[:300]
        if not same_metadata(self._resolver(), self._reader):
            return "metadata"
        return "" if result.modification_level.name in ("NONE", "LTA_UPDATES") else result.modification_level.name

    def _covers_its_revision(self) -> bool:
        start, _, second, tail = self._signature.byte_range
        table = self._reader.xrefs.get_startxref_for_revision(self._signature.revision)
        # The bytes covered must end as a file of that revision ends, with nothing of a later one.
        return start == 0 and second < table and last_table(self._pdf[: second + tail]) == table

    def _document_timestamps(self) -> tuple[TokenFacts, ...]:
        roots = () if self._pins is None else self._pins.tsa_roots
        found = [entry for entry in self._signatures if entry.kind == "/DocTimeStamp"]
        return tuple(
            token_facts(first(entry.contents).whole, sha256(self._covered_bytes(entry)).digest(), roots)
            for entry in found
        )

    def _last_covers_file(self) -> bool:
        last = max(self._signatures, key=lambda entry: (entry.revision, entry.byte_range[2]))
        start, length, second, tail = last.byte_range
        gap = self._pdf[length:second]
        return start == 0 and second + tail == len(self._pdf) and len(gap) == 2 * len(last.contents) + 2

    def _gap_problems(self) -> tuple[str, ...]:
        start, length, second, _ = self._signature.byte_range
        gap = self._pdf[length:second]
        problems = [] if start == 0 and _GAP.fullmatch(gap) else ["hex"]
        whole = first(self._signature.contents).whole
        if any(self._signature.contents[len(whole) :]):
            problems.append("padding")
        if not problems and bytes.fromhex(gap[1:-1].decode("ascii")) != self._signature.contents:
            problems.append("contents")
        return tuple(problems)

    def _signed_digest(self) -> str:
        return sha256(self._covered_bytes(self._signature)).hexdigest()

    def _attachments(self) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        signed = _attachments_of(self._root())
        problems = []
        if (
            self._reader.total_revisions - 1 != self._signature.revision
            and _attachments_of(self._reader.root) != signed
        ):
            problems.append("latest revision has others")
        if len({entry.name for entry in signed}) != len(signed):
            problems.append("name twice")
        return signed, tuple(problems)


def _archived_lists(reader: PdfFileReader) -> tuple[bytes, ...]:
    """Return the revocation lists of the document security store, which a document timestamp covers (V08, V09)."""
    if "/DSS" not in reader.root or "/CRLs" not in reader.root["/DSS"]:
        return ()
    named = reader.root["/DSS"]["/CRLs"]
    if len(named) > _LISTS:
        raise ValueError("too many revocation lists")
    streams = [named[index] for index in range(len(named))]
    if any("/Filter" in stream or not isinstance(stream, generic.StreamObject) for stream in streams):
        raise ValueError("a revocation list is filtered")
    return tuple(bytes(stream.data) for stream in streams)


def _signatures(reader: PdfFileReader) -> list[_Signature]:
    found = []
    for count, (_name, value, field) in enumerate(enumerate_sig_fields(reader, filled_status=True)):
        if count >= _FIELDS:
            raise ValueError("too many signature fields")
        reference = field.get_object().raw_get("/V").reference
        dictionary = value.get_object()
        numbers = dictionary.raw_get("/ByteRange")
        contents = dictionary.raw_get("/Contents", decrypt=generic.EncryptedObjAccess.RAW)
        byte_range = tuple(int(number) for number in numbers)
        if len(byte_range) != 4 or min(byte_range) < 0 or max(byte_range) > MAX_PDF:
            raise ValueError("/ByteRange")
        found.append(
            _Signature(
                dictionary=dictionary,
                reference=reference,
                kind=str(dictionary.get("/Type", "/Sig")),
                byte_range=(byte_range[0], byte_range[1], byte_range[2], byte_range[3]),
                contents=bytes(contents.original_bytes),
                revision=reader.xrefs.get_last_change(reference),
            )
        )
    return found


def _attachments_of(root: generic.DictionaryObject) -> tuple[Attachment, ...]:
    if "/Names" not in root or "/EmbeddedFiles" not in root["/Names"]:
        return ()
    tree = root["/Names"]["/EmbeddedFiles"]
    if set(tree) != {"/Names"}:
        raise ValueError("name tree")
    names = tree["/Names"]
    if len(names) % 2 or len(names) > 2 * _ATTACHMENTS:
        raise ValueError("name tree")
    return tuple(_attachment(str(names[index]), names[index + 1]) for index in range(0, len(names), 2))


def _attachment(key: str, specification: generic.DictionaryObject) -> Attachment:
    name = str(specification["/UF"])
    files = specification["/EF"]
    if str(specification["/F"]) != name or not set(files) <= {"/F", "/UF"}:
        raise ValueError(f"attachment {key!r}: two names")
    stream = files["/F"]
    if "/UF" in files and files["/UF"] != stream:
        raise ValueError(f"attachment {key!r}: two streams")
    if "/Filter" in stream or not isinstance(stream, generic.StreamObject):
        raise ValueError(f"attachment {key!r}: filter")
    data = bytes(stream.data)
    if len(data) > MAX_REPORT_JSON:
        raise ValueError(f"attachment {key!r}: too long")
    return Attachment(name, data)


def _same(one: generic.Reference, other: generic.Reference) -> bool:
    return (one.idnum, one.generation) == (other.idnum, other.generation)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]

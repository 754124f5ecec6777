"""Make the two faces of the report from the packaged variable font, once, and remember them.

A variable font embedded as it is gives other bytes in each render; its instances Regular (wght 400) and Bold
(700), with both axes pinned, do not. Making them takes some 13 s, so they are kept in the user's cache under
the digest of their source and the version of fontTools.
"""

from __future__ import annotations

import io
import os
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from slaverify.canonical import sha256_hex
from slaverify.errors import ReportError, Text

WEIGHTS = {"regular": 400, "bold": 700}


@dataclass(frozen=True, slots=True)
class Faces:
    """The two faces as files."""

    regular: Path
    bold: Path


def prepare_fonts() -> Faces:
    """Return the faces, making them if they are not in the cache.

    Raises: ReportError SLV-R013 (exit 6) if the font package is missing or the cache cannot be written.
    """
    source = _source()
    folder = _cache() / "fonts" / f"{sha256_hex(source)[:32]}-{version('fonttools')}"
    paths = {name: folder / f"{name}.ttf" for name in WEIGHTS}
    for name, weight in WEIGHTS.items():
        if not _intact(paths[name]):
            _store(paths[name], _instance(source, weight))
    return Faces(paths["regular"], paths["bold"])


def face_names(regular: bytes, bold: bytes) -> str:
    """Return package, version and the digests of both faces, as `report.json` names them."""
    package = f"fontpkg-ibm-plex-sans {version('fontpkg-ibm-plex-sans')}"
    return f"{package} regular {sha256_hex(regular)} bold {sha256_hex(bold)}"


def drawable(regular: Path, bold: Path) -> frozenset[int]:
    """Return the code points that both faces can draw."""
    from fontTools.ttLib import TTFont

    maps = []
    for path in (regular, bold):
        with TTFont(path, lazy=True) as font:
            maps.append(set(font.getBestCmap()))
    return frozenset(maps[0] & maps[1])


def _source() -> bytes:
    try:
        import fontpkg_ibm_plex_sans

        return (Path(fontpkg_ibm_plex_sans.ROOT) / "files" / "IBMPlexSans[wdth,wght].ttf").read_bytes()
    except (ImportError, OSError) as error:
        raise _unavailable("fontpkg-ibm-plex-sans", repr(error)) from error


def _instance(source: bytes, weight: int) -> bytes:
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    # recalcTimestamp off: else `head.modified` is the time of this run, and two renders differ.
    font = TTFont(io.BytesIO(source), recalcTimestamp=False)
    pinned = instancer.instantiateVariableFont(font, {"wght": weight, "wdth": 100}, static=True)
    out = io.BytesIO()
    pinned.save(out)
    return out.getvalue()


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "slaverify"
    except RuntimeError as error:
        raise _unavailable("~/.cache", repr(error)) from error


def _intact(path: Path) -> bool:
    """Tell whether a cached face is there and is the one that was written."""
    try:
        expected = path.with_suffix(".sha256").read_text(encoding="ascii").strip()
        return sha256_hex(path.read_bytes()) == expected
    except (OSError, ValueError):
        return False


def _store(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
        _replace(path.with_suffix(".sha256"), sha256_hex(data).encode("ascii"))
    except OSError as error:
        raise _unavailable(str(path.parent), repr(error)) from error


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _unavailable(place: str, detail: str) -> ReportError:
    return ReportError(
        "SLV-R013",
        Text("no se pudieron preparar las fuentes del informe", "the fonts of the report could not be prepared"),
        why=Text(detail, detail),
        fix=Text(
            "instale fontpkg-ibm-plex-sans y permita escribir en la carpeta de caché (o fije XDG_CACHE_HOME)",
            "install fontpkg-ibm-plex-sans and make the cache folder writable (or set XDG_CACHE_HOME)",
        ),
        where=place,
        exit_code=6,
    )

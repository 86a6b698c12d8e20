"""Images beside a text: files of the benchmark, checked, and kept as people are shown them."""

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from PIL import Image as Pillow
from PIL import ImageOps, UnidentifiedImageError

from annotation.benchmarks.archives import Files
from annotation.benchmarks.formats.content import ReadImage, Record, json_type

FIELDS = ("image", "images")
TEXTS = "image_text"
# Each format with what it is called in an address, and how it is written.
FORMATS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "PNG": ("image/png", {"optimize": True}),
    "JPEG": ("image/jpeg", {"quality": 92}),
    "WEBP": ("image/webp", {"quality": 92}),
}
MOST_IMAGES, MOST_BYTES, LONGEST_SIDE, LONGEST_TEXT = 8, 4_000_000, 6_000, 2_000


class ImageReader:
    def __init__(self, files: Files) -> None:
        self._files, self._names = files, frozenset(files.names)
        self._known: dict[str, dict[str, Any]] = {}

    def read(self, record: Record) -> tuple[ReadImage, ...]:
        images: Any = next((record.fields[name] for name in FIELDS if record.fields.get(name)), [])
        if not images:
            return ()
        sources = images if isinstance(images, list) else [images]
        texts = record.fields.get(TEXTS) or ""
        texts = texts if isinstance(texts, list) else [texts]
        if len(sources) > MOST_IMAGES:
            record.refuse(f"there are {len(sources)} images; an item has {MOST_IMAGES} at most.")
        if len(texts) != len(sources) and any(texts):
            record.refuse(f"“{TEXTS}” must hold a text for each image, in their order.")
        descriptions = [record.as_text(text, f"“{TEXTS}”").strip() for text in texts]
        if any(len(text) > LONGEST_TEXT for text in descriptions):
            record.refuse(f"“{TEXTS}” is longer than {LONGEST_TEXT} characters.")
        descriptions += [""] * (len(sources) - len(descriptions))
        return tuple(
            ReadImage(**self._image(record, source), text=text)
            for source, text in zip(sources, descriptions, strict=True)
        )

    def _image(self, record: Record, source: object) -> dict[str, Any]:
        # As Parquet holds them.
        if isinstance(source, dict) and isinstance(source.get("bytes"), bytes):
            return checked(record, source["bytes"], str(source.get("path") or "the image"))
        path = source.get("path") if isinstance(source, dict) else source
        if not isinstance(path, str):
            record.refuse(f"an image must be the name of a file, but it is {json_type(path)}.")
        name = self._named(record, path)
        if name not in self._known:
            self._known[name] = checked(record, self._files.read(name), path)
        return self._known[name]

    def _named(self, record: Record, path: str) -> str:
        relative = PurePosixPath(path)
        if relative.is_absolute() or ".." in relative.parts or "\\" in path:
            record.refuse(f"the image “{path[:100]}” lies outside the benchmark's folder.")
        beside = PurePosixPath(record.file).parent / relative
        for name in (str(beside), str(relative)):
            if name in self._names:
                return name
        record.refuse(
            f"there is no file “{path[:100]}”; import the folder or zip that holds the images too."
        )


def checked(record: Record, data: bytes, name: str) -> dict[str, Any]:
    """What people are shown: the pixels alone, upright. What else a file holds might tell more."""
    if len(data) > MOST_BYTES:
        record.refuse(f"the image “{name[:100]}” is larger than {MOST_BYTES // 1_000_000} MB.")
    try:
        with Pillow.open(BytesIO(data), formats=list(FORMATS)) as opened:
            form, (width, height) = str(opened.format), opened.size
            if max(width, height) > LONGEST_SIDE:
                record.refuse(
                    f"the image “{name[:100]}” has {width} × {height} pixels; "
                    f"{LONGEST_SIDE} a side are the most."
                )
            shown = _plain(opened)
    except Pillow.DecompressionBombError:
        record.refuse(
            f"the image “{name[:100]}” has too many pixels; {LONGEST_SIDE} a side are the most."
        )
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError):
        record.refuse(f"“{name[:100]}” is no image that can be read; take PNG, JPEG or WebP.")
    media_type, how = FORMATS[form]
    kept = BytesIO()
    shown.save(kept, form, **how)
    return {
        "checksum": sha256(data).hexdigest(),
        "media_type": media_type,
        "data": kept.getvalue(),
        "width": shown.width,
        "height": shown.height,
    }


def _plain(opened: Pillow.Image) -> Pillow.Image:
    upright = ImageOps.exif_transpose(opened)
    mode = "RGBA" if upright.has_transparency_data else "RGB"
    plain = upright.convert("L" if upright.mode in ("1", "L") else mode)
    plain.info = {}
    return plain

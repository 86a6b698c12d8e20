import stat
import struct
import zlib
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest

from annotation.benchmarks import archives
from annotation.benchmarks.archives import Source, open_files
from annotation.models.errors import BadInput


def packed(*members: tuple[str | ZipInfo, bytes], method: int = ZIP_DEFLATED) -> BytesIO:
    buffer = BytesIO()
    with ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, method)
    buffer.seek(0)
    return buffer


def read_all(source: Source) -> dict[str, bytes]:
    with open_files(source) as files:
        return {name: files.read(name) for name in files.names}


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_reads_the_files_of_an_archive(method: int) -> None:
    source = packed(("b/two.txt", b"2"), ("a/one.txt", b"1"), ("a/", b""), method=method)
    assert read_all(source) == {"a/one.txt": b"1", "b/two.txt": b"2"}


def test_reads_an_archive_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "some.zip"
    path.write_bytes(packed(("one.txt", b"1")).getvalue())
    assert read_all(path) == {"one.txt": b"1"}


def test_reads_the_files_of_a_folder_down_to_four_levels(tmp_path: Path) -> None:
    (tmp_path / "a/b/c/d").mkdir(parents=True)
    for name in ["one.txt", "a/two.txt", "a/b/three.txt", "a/b/c/four.txt", "a/b/c/d/5.txt"]:
        (tmp_path / name).write_text(name)
    assert read_all(tmp_path) == {
        name: name.encode() for name in ["a/b/c/four.txt", "a/b/three.txt", "a/two.txt", "one.txt"]
    }


def test_rejects_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing does not exist"):
        read_all(tmp_path / "nothing")


def test_rejects_a_file_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "some.zip"
    path.write_bytes(b"PK but no archive")
    with pytest.raises(BadInput, match=r"some.zip is neither a folder nor a readable zip file"):
        read_all(path)
    with pytest.raises(BadInput, match="The uploaded file is neither"):
        read_all(BytesIO(b""))


@pytest.mark.parametrize(
    "name", ["../a.txt", "a/../../b.txt", "/etc/passwd", "..\\a.txt", "\\a.txt", "C:/a.txt"]
)
def test_rejects_a_path_outside_of_the_folder(name: str) -> None:
    with pytest.raises(BadInput, match="lies outside its folder"):
        read_all(packed(("fine.txt", b"1"), (name, b"2")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_rejects_links_and_devices(kind: int) -> None:
    entry = ZipInfo("a.txt")
    entry.external_attr = (kind | 0o777) << 16
    with pytest.raises(BadInput, match=r"'a.txt' in the archive is a link or a device"):
        read_all(packed((entry, b"/etc/passwd")))


def test_rejects_an_encrypted_file() -> None:
    data = bytearray(packed(("a.txt", b"1")).getvalue())
    local, central = data.index(b"PK\3\4"), data.index(b"PK\1\2")
    data[local + 6] |= 1
    data[central + 8] |= 1
    with pytest.raises(BadInput, match="is encrypted"):
        read_all(BytesIO(data))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_rejects_a_repeated_name() -> None:
    with pytest.raises(BadInput, match="is there twice"):
        read_all(packed(("a.txt", b"1"), ("a.txt", b"2")))


def test_rejects_a_file_without_a_name() -> None:
    archive = BytesIO()
    nameless = ZipInfo("a.txt")
    nameless.filename = ""
    with ZipFile(archive, "w") as made, made.open(nameless, "w") as file:
        file.write(b"1")
    with pytest.raises(BadInput, match="has no name"):
        read_all(archive)


def test_rejects_too_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_FILES", 3)
    assert len(read_all(packed(*((f"{n}.txt", b"") for n in range(3))))) == 3
    with pytest.raises(BadInput, match="holds 4 files; at most 3 are read"):
        read_all(packed(*((f"{n}.txt", b"") for n in range(4))))


def test_rejects_two_gigabytes_of_zeros() -> None:
    packer = zlib.compressobj(wbits=-15)
    megabyte = packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = bytearray(packed(("a_test.jsonl", megabyte * 2000), method=ZIP_STORED).getvalue())
    central = data.index(b"PK\1\2")
    struct.pack_into("<H", data, central + 10, ZIP_DEFLATED)
    struct.pack_into("<I", data, central + 24, 2_000_000_000)
    with pytest.raises(BadInput, match="would grow to 2000 MB from next to nothing"):
        read_all(BytesIO(data))


def test_accepts_a_text_that_repeats_itself() -> None:
    text = b"".join(
        b"Sentence %d of a context that comes three times. " % (n // 3) for n in range(50_000)
    )
    assert read_all(packed(("a.txt", text))) == {"a.txt": text}


def test_rejects_more_than_the_limit_by_its_headers() -> None:
    # Two gigabytes by the header alone: refused before a byte is read.
    data = bytearray(packed(("a.txt", b"1"), method=ZIP_STORED).getvalue())
    central = data.index(b"PK\1\2")
    struct.pack_into("<II", data, central + 20, 2_000_000_000, 2_000_000_000)
    with pytest.raises(BadInput, match="larger than 500 MB unpacked"):
        read_all(BytesIO(data))


def test_counts_what_it_reads_whatever_the_headers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    source = packed(("a.txt", b"x" * 60), ("b.txt", b"y" * 60))
    monkeypatch.setattr(archives, "MOST_BYTES", 100)
    monkeypatch.setattr(archives, "check_entries", lambda entries: None)
    with open_files(source) as files:
        assert files.read("a.txt") == b"x" * 60
        with pytest.raises(BadInput, match="unpacked"):
            files.read("b.txt")


def test_rejects_a_file_that_is_longer_than_its_header_says() -> None:
    data = bytearray(packed(("a.txt", b"x" * 60)).getvalue())
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, 10)
    with pytest.raises(BadInput, match=r"a.txt cannot be read: the archive is damaged there"):
        read_all(BytesIO(data))


def test_rejects_a_file_whose_content_is_damaged() -> None:
    data = packed(("a.txt", b"some text"), method=ZIP_STORED).getvalue()
    with pytest.raises(BadInput, match=r"a.txt cannot be read"):
        read_all(BytesIO(data.replace(b"some text", b"same text")))


def test_rejects_a_compression_that_it_cannot_read() -> None:
    data = bytearray(packed(("a.txt", b"1")).getvalue())
    for signature, offset in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        struct.pack_into("<H", data, data.index(signature) + offset, 97)
    with pytest.raises(BadInput, match=r"a.txt cannot be read"):
        read_all(BytesIO(data))

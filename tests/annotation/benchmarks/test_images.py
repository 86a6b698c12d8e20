"""Images beside a text: files of the benchmark, checked and stripped, shown to people, and withheld
from models that are prompted with text."""

import json
import struct
import zlib
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngInfo

from annotation.benchmarks.correcting import delete_benchmark
from annotation.benchmarks.importing import import_benchmark
from annotation.benchmarks.sampling import labelled_task
from annotation.models import Benchmark, Example, Image, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.exported_tables import EXPORTS
from annotation.studies.lifecycle import start_study
from scoring.prompts.prompting import Subject
from tests import make

pytestmark = pytest.mark.django_db
SECRET = "the gold is Nairobi"


def drawn(form: str = "PNG", size: tuple[int, int] = (40, 20), colour: str = "red") -> bytes:
    kept = BytesIO()
    picture = Pillow.new("RGB", size, colour)
    if form == "PNG":
        about = PngInfo()
        about.add_text("Description", SECRET)
        picture.save(kept, form, pnginfo=about)
    else:
        turned = Pillow.Exif()
        turned[0x0112] = 6  # a quarter turn
        turned[0x010E] = SECRET
        picture.save(kept, form, exif=turned)
    return kept.getvalue()


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "context": "Which town?", "question": "", "answer": ["b"], **fields}


def write(root: Path, rows: list[dict[str, Any]], **files: bytes) -> Path:
    folder = root / "Towns"
    (folder / "images").mkdir(parents=True)
    for name, data in files.items():
        (folder / "images" / name.replace("_", ".")).write_bytes(data)
    about = {"kind": "choice", "choices": ["a", "b"], "description": "Is it a or b?"}
    (folder / "task.json").write_text(json.dumps(about))
    (folder / "towns_test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return root


def imported(root: Path, rows: list[dict[str, Any]], **files: bytes) -> Task:
    import_benchmark(write(root, rows, **files), name="towns")
    return Task.objects.get(benchmark__name="towns")


def test_keeps_the_pixels_upright_and_nothing_else(tmp_path: Path) -> None:
    rows = [row(1, image="images/a.png", image_text="A red box."), row(2, image=["images/b.jpg"])]
    task = imported(tmp_path, rows, a_png=drawn(), b_jpg=drawn("JPEG"))
    first, second = Example.objects.order_by("pk")
    assert [(one["text"], one["width"], one["height"]) for one in first.images + second.images] == [
        ("A red box.", 40, 20),
        ("", 20, 40),
    ]
    for image in task.images.all():
        assert SECRET.encode() not in bytes(image.data)
        with Pillow.open(BytesIO(image.data)) as shown:
            assert not shown.getexif()
            assert not getattr(shown, "text", {})
    # Texts alike beside different images are different items, and no cluster.
    assert first.content_hash != second.content_hash
    assert first.context_hash != second.context_hash
    told = {finding["code"]: finding for finding in task.audit}
    assert told["images_without_text"]["figures"] == {"count": 1}
    assert "equal_test_rows" not in told


def test_the_same_files_again_change_nothing(tmp_path: Path) -> None:
    imported(tmp_path, [row(1, image="images/a.png")], a_png=drawn())
    assert not import_benchmark(tmp_path, name="towns").is_changed
    assert Image.objects.count() == 1


def test_finds_images_beside_a_table_in_a_zip(tmp_path: Path) -> None:
    packed = tmp_path / "towns.zip"
    with ZipFile(packed, "w") as archive:
        lines = "question,A,B,answer,image_1,image_2\nWhich?,Lagos,Nairobi,B,a.png,\n"
        archive.writestr("data/towns.csv", lines)
        archive.writestr("data/a.png", drawn("WEBP"))
    report = import_benchmark(packed, name="towns")
    assert Example.objects.get().images[0]["width"] == 20
    (told,) = [one for one in report.tasks[0].findings if one.code == "columns"]
    assert "images: image_1, image_2" in "".join(told.examples)


def test_takes_images_out_of_parquet(tmp_path: Path) -> None:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = {
        "question": ["Which?"],
        "options": [["Lagos", "Nairobi"]],
        "answer": [0],
        "image": [{"bytes": drawn(), "path": "a.png"}],
    }
    parquet.write_table(arrow.Table.from_pydict(columns), tmp_path / "towns.parquet")
    import_benchmark(tmp_path / "towns.parquet", name="towns")
    assert Example.objects.get().images[0]["height"] == 20


BOMB = drawn(size=(7_000, 10))
# 40,000 pixels a side, by its head alone.
_SIZE = b"IHDR" + struct.pack(">II", 40_000, 40_000) + b"\x08\x02\x00\x00\x00"
GIANT = BOMB[:12] + _SIZE + struct.pack(">I", zlib.crc32(_SIZE)) + BOMB[33:]


@pytest.mark.parametrize(
    ("fields", "files", "sentence"),
    [
        ({"image": "../x.png"}, {}, "line 1: the image “../x.png” lies outside the benchmark"),
        ({"image": "/etc/x.png"}, {}, "lies outside the benchmark's folder"),
        ({"image": "images/none.png"}, {}, "there is no file “images/none.png”"),
        ({"image": 7}, {}, "an image must be the name of a file, but it is a number"),
        ({"image": "images/a.svg"}, {"a_svg": b"<svg/>"}, "“images/a.svg” is no image that can be"),
        (
            {"image": "images/a.png"},
            {"a_png": b"\x89PNG\r\n\x1a\n"},
            "is no image that can be read",
        ),
        ({"image": "images/a.png"}, {"a_png": drawn()[:-30]}, "is no image that can be read"),
        ({"image": "images/a.png"}, {"a_png": BOMB}, "has 7000 × 10 pixels; 6000 a side are the"),
        ({"image": "images/a.png"}, {"a_png": GIANT}, "has too many pixels; 6000 a side are the"),
        ({"image": "images/a.png"}, {"a_png": bytes(4_000_001)}, "is larger than 4 MB"),
        ({"image": ["images/a.png"] * 9}, {"a_png": drawn()}, "there are 9 images; an item has 8"),
        (
            {"image": ["images/a.png"] * 2, "image_text": "one"},
            {"a_png": drawn()},
            "“image_text” must hold a text for each image",
        ),
    ],
)
def test_refuses_images_that_cannot_be_shown(
    tmp_path: Path, fields: dict[str, Any], files: dict[str, bytes], sentence: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, [row(1, **fields)], **files)
    assert sentence in str(refusal.value)
    assert not Benchmark.objects.exists()
    assert not Image.objects.exists()


def test_refuses_images_where_words_are_chosen(tmp_path: Path) -> None:
    root = write(tmp_path, [row(1, image="images/a.png")], a_png=drawn())
    (root / "Towns" / "task.json").write_text('{"kind": "spans"}')
    with pytest.raises(BadInput, match="images cannot stand where words of a text are chosen"):
        import_benchmark(root, name="towns")


def test_shows_them_to_people_and_not_to_prompts(tmp_path: Path) -> None:
    task = imported(tmp_path, [row(1, image="images/a.png", image_text="Red.")], a_png=drawn())
    batch = make.batch(make.study(task.benchmark), task, zero_shot=True)
    start_study(batch.study, at=make.NOON)
    client = Client()
    client.get(reverse("annotation:join_batch", args=[batch.join_token]))
    assert "You need to see images for it." in client.get("/work/consent/").content.decode()
    client.post("/work/consent/", {"agree": "1"})
    page = client.post("/work/begin/", follow=True).content.decode()
    assert 'alt="Red."' in page
    assert 'src="data:image/png;base64,' in page
    assert "Red." in "".join(EXPORTS["items"].lines(batch.study))
    Benchmark.objects.update(keeps_texts=True)
    study = Study.objects.get()
    assert "Red." not in "".join(EXPORTS["items"].lines(study))
    with pytest.raises(BadInput, match="Items of the task towns show images"):
        list(Subject(task.benchmark, tasks=["towns"]).prompt_sets())
    with pytest.raises(BadInput, match="options of their own or images"):
        labelled_task(task)


def test_go_with_their_benchmark(tmp_path: Path) -> None:
    imported(tmp_path, [row(1, image="images/a.png")], a_png=drawn())
    delete_benchmark(Benchmark.objects.get())
    assert not Image.objects.exists()

"""Shows that a change leaves every export as it was: byte for byte, archives member by member.

    python tools/compare_exports.py make WORLD [CLUES]     a database with studies of all sorts
    python tools/compare_exports.py export WORLD FOLDER    every export of every format from it
    python tools/compare_exports.py compare FOLDER FOLDER  the files that differ; status 1 if any do

The folder that one stands in is the program that makes or exports: make and export in a work tree
of an earlier commit, then export in another. An export works on a copy of the world, which is
migrated first. The clock stands still.
"""

import difflib
import io
import json
import os
import random
import re
import shutil
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, os.getcwd())

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
FORMATS = ("csv", "json", "latex", "markdown", "xlsx")
# Of a study, as (command, options, name of the file); "{}" takes the place of a folder or file.
COMMANDS = (
    *(("export_comparison", ["--format", f], f"comparison.{f}") for f in FORMATS),
    *(("export_comparison", ["--format", f, "--simulated"], f"simulated.{f}") for f in FORMATS),
    ("export_comparison", ["--format", "json", "--references", "set"], "references-set.json"),
    ("export_comparison", ["--format", "csv", "--with-excluded"], "with-excluded.csv"),
    ("export_comparison", ["--format", "csv", "--estimand", "these_items"], "these-items.csv"),
    ("export_comparison", ["--format", "csv", "--shot-sets", "new"], "new-shot-sets.csv"),
    ("export_comparison", ["--format", "csv", "--gold-version", "1"], "gold-1.csv"),
    ("export_judgements", ["--format", "jsonl", "--simulated", "--with-excluded"], "j.jsonl"),
    ("export_judgements", ["--format", "csv"], "judgements.csv"),
    ("export_payments", ["--format", "csv"], "payments.csv"),
    ("export_payments", ["--format", "prolific"], "bonuses.csv"),
    ("export_ids", [], "ids.csv"),
    ("export_report", ["--format", "text"], "report.txt"),
    ("export_report", ["--format", "latex"], "report.tex"),
    ("export_report", ["--format", "text", "--part", "sheet"], "sheet.txt"),
    ("export_report", ["--format", "latex", "--part", "sheet"], "sheet.tex"),
    ("export_data", ["--output", "{}"], "data"),
    ("export_data", ["--output", "{}", "--simulated", "--with-excluded"], "all-data"),
    ("export_bundle", ["--output", "{}", "--texts"], "bundle.zip"),
    ("export_bundle", ["--output", "{}", "--simulated", "--with-excluded"], "all-bundle.zip"),
    ("export_every_eval_ever", ["--simulated"], "samples.jsonl"),
    ("export_every_eval_ever", ["--output", "{}"], "every-eval-ever"),
)
TABLES = (
    *("tests", "systems", "changes", "uncertainty", "agreement", "curves", "aggregates"),
    *("average-tests", "excluded"),
)
# What follows a clock, a random number or the program's version, and not the study.
PASSING = re.compile(
    r'(?:name="csrfmiddlewaretoken" value|nonce|"X-CSRFToken"): ?"[^"]*"'
    r'|name="csrfmiddlewaretoken" value="[^"]*"|nonce="[^"]*"|/static/[\w./-]*'
    r"|<dcterms:\w+ [^>]*>[^<]*<"
)


def main(arguments: list[str]) -> int:
    task, *paths = arguments
    folders = [Path(path).resolve() for path in paths]
    if task == "compare":
        return compare(*folders)
    (make if task == "make" else export)(*folders)
    return 0


def set_up(database: Path) -> None:
    os.environ["DATABASE_URL"] = f"sqlite:///{database}"
    os.environ["DATA_DIR"] = str(database.parent)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    import django

    django.setup()
    from django.utils import timezone

    timezone.now = lambda: NOW
    call("migrate", verbosity=0)


def call(name: str, *arguments: str, **options: Any) -> str:
    from django.core.management import call_command

    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


# Making a world


def make(world: Path, clues: Path | None = None) -> None:
    random.seed(20261101)
    os.urandom = random.randbytes
    world.mkdir(parents=True)
    set_up(world / "world.sqlite3")
    from django.contrib.auth.models import User

    User.objects.create_superuser("researcher", password="researcher")
    call("load_demo")
    make_gaps()
    if clues is not None:
        make_clues(clues)


def make_gaps() -> None:
    """People who left, came late, failed or are excluded; several splits, kinds and systems; a
    correction of gold; published figures."""
    from annotation.benchmarks.correcting import correct_gold
    from annotation.models import Batch, Kind
    from annotation.studies.lifecycle import start_study
    from annotation.studies.people import exclude, lift_exclusion
    from annotation.work.finishing import expire_idle, withdraw
    from tests import make as made

    benchmark = made.benchmark("gaps")
    study = made.study(benchmark, slug="gaps", via="prolific", title="Gaps", hourly_rate=15)
    batches = []
    for kind in Kind.values:
        task = made.task(benchmark, kind=kind, slug=f"with-{kind}", training=4, tests=12)
        first = task.item_sets.get(name="train-4-1")
        for split in (2, 3):
            name, examples = f"train-4-{split}", list(first.examples.all())
            made.item_set(task, examples, name=name, shots=4, split=split)
        for item_set in [None, *task.item_sets.filter(shots=4).order_by("split")]:
            batch = Batch(study=study, task=task, training_set=item_set, wanted=4)
            batch.test_set = task.item_sets.get(name="test")
            batch.save()
            batches.append(batch)
    start_study(study, at=made.NOON)
    for number, batch in enumerate(batches):
        batch.refresh_from_db()
        for person in range(3 if number % 3 else 2):
            made.worked_through(batch, wrong=(5 * number + 3 * person) % 9)
    left, late = made.at_work(batches[0]), made.at_work(batches[1])
    made.answer(left)
    withdraw(left, at=made.NOON + timedelta(minutes=2))
    made.answer(late)
    expire_idle(at=made.NOON + timedelta(days=3))
    done = [batch.assignments.order_by("pk").first() for batch in batches]
    exclude(done[2], reason="Clicked through.")
    exclude(done[5], reason="Told us to be a machine.")
    exclude(done[6], reason="By mistake.")
    lift_exclusion(done[6])
    task = batches[0].task
    example = task.item_sets.get(name="test").examples.order_by("pk").first()
    wrong = [option for option in made.LABELS if [option] != made.gold_texts(Kind.CHOICE, "test 0")]
    correct_gold(task, {example.pk: [wrong]}, reason="Read wrongly.", author=None)
    make_runs(benchmark)


def make_runs(benchmark: Any) -> None:
    """Systems with all splits, with one split, with gaps, fully supervised; and published ones."""
    from annotation.kinds.gold import gold_in_force

    rng = random.Random(7)
    lines, reported = [], []
    for task in benchmark.tasks.order_by("slug"):
        test = task.item_sets.get(name="test") if task.item_sets.filter(name="test") else None
        test = test or task.item_sets.filter(role="test").first()
        items = list(test.items.select_related("example").order_by("position"))
        gold = gold_in_force([item.example_id for item in items], task.pk, 1)
        shots = sorted({s.shots for s in task.item_sets.exclude(shots=None)})[:2]
        texts = [gold[item.example_id].alternative_texts()[0] for item in items]
        for system, skill, splits in (("Good", 0.9, (1, 2, 3)), ("Fair", 0.6, (1,))):
            for k, split in ((k, split) for k in shots for split in splits):
                about: dict[str, Any] = {"system": system, "method": "FT", "parameters": "110M"}
                about |= {"task": task.slug, "shots": k, "split": split}
                for item, text in zip(items, texts, strict=True):
                    if system == "Good" or rng.random() < 0.95:
                        right = rng.random() < skill
                        answer = text if right else rng.choice(texts)
                        lines.append(about | {"id": item.source_id, "prediction": answer})
        about = {"kind": "model", "system": "Published", "method": "FT", "references": "unknown"}
        about |= {"task": task.slug, "shots": "all", "mean": 81.5, "sd": 1.5, "n": 5}
        reported.append(about | {"source": "A paper"})
    with TemporaryDirectory() as folder:
        answered = "".join(json.dumps(row) + "\n" for row in lines)
        published = json.dumps({"metric": "S1 (percent)", "scores": reported})
        for name, content in (("runs.jsonl", answered), ("published.json", published)):
            file = Path(folder, name)
            file.write_text(content)
            call("import_runs", str(file), "--benchmark", benchmark.name)


def make_clues(clues: Path) -> None:
    """People on real tasks: two kinds, zero-shot and two splits of ten shots."""
    from annotation.models import Batch, Benchmark, Channel
    from annotation.studies.lifecycle import start_study
    from tests import make as made

    call("import_benchmark", str(clues), "--name", "clues")
    benchmark = Benchmark.objects.get(name="clues")
    study = made.study(benchmark, slug="clues", title="Real tasks")
    study.channel = Channel.objects.get(slug="link")
    for task in benchmark.tasks.filter(slug__in=("conll03", "sst2", "squadv2")):
        for name in (None, 1, 2):
            found = task.item_sets.filter(shots=10, split=name).first() if name else None
            batch = Batch(study=study, task=task, training_set=found, wanted=3)
            batch.test_set = task.item_sets.filter(role="test").first()
            batch.save()
    study.save()
    start_study(study, at=made.NOON)
    for number, batch in enumerate(study.batches.order_by("pk")):
        for person in range(2):
            made.worked_through(batch, wrong=15 + 5 * number + 20 * person)
    make_runs(benchmark)


# Exporting


def export(world: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    with TemporaryDirectory() as place:
        shutil.copytree(world, place, dirs_exist_ok=True)
        set_up(Path(place, "world.sqlite3"))
        from annotation.models import Benchmark, Study

        studies = list(Study.objects.filter(is_rehearsal=False).values_list("slug", flat=True))
        # The reader's choice of tables is the program's own: a table that has gone is told of.
        for slug in studies:
            export_study(slug, folder / "studies" / slug)
        for benchmark in Benchmark.objects.all():
            name, into = benchmark.name, folder / "benchmarks" / benchmark.name
            for form in FORMATS:
                keep(into / f"comparison.{form}", "export_comparison", "--benchmark", name,
                     "--format", form, "--simulated")  # fmt: skip
            for task in benchmark.tasks.order_by("slug")[:2]:
                keep(into / f"prompts-{task.slug}.jsonl", "export_prompts", "--benchmark", name,
                     "--task", task.slug)  # fmt: skip
        save_pages(folder / "pages")


def export_study(slug: str, folder: Path) -> None:
    for command, options, name in COMMANDS:
        keep(folder / name, command, "--study", slug, *options)
    for table in TABLES:
        for form in FORMATS:
            keep(folder / f"{table}.{form}", "export_comparison", "--study", slug,
                 "--simulated", "--table", table, "--format", form)  # fmt: skip


def keep(path: Path, command: str, *arguments: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    writes_itself = "{}" in arguments
    binary = path.suffix == ".xlsx"
    given = [str(path) if argument == "{}" else argument for argument in arguments]
    try:
        text = call(command, *given, *(["--output", str(path)] if binary else []))
        if not (writes_itself or binary):
            path.write_text(text)
    except (Exception, SystemExit) as problem:
        path.with_suffix(".refused").write_text(f"{type(problem).__name__}: {problem}\n")


# Edges of the crawl: others' pages, or what changes something.
LEFT_OUT = re.compile(r"^/(admin|docs|static|api|metrics|readyz|join|work|resume|go|invited)\b")
PAGES = 700


def save_pages(folder: Path) -> None:
    """Every page and download that a superuser reaches from the first page by its links."""
    from django.contrib.auth.models import User
    from django.test import Client

    folder.mkdir(parents=True)
    client = Client(raise_request_exception=False, SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.get(username="researcher"))
    waiting, seen = ["/"], {"/"}
    while waiting and len(seen) < PAGES:
        address = waiting.pop(0)
        response: Any = client.get(address, follow=True)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        kind = response.headers.get("Content-Type", "")
        name = re.sub(r"[^\w.=&-]+", "_", address)[:150]
        is_page = kind.startswith("text/html")
        (folder / f"{name}.{'html' if is_page else 'file'}").write_bytes(
            f"{response.status_code}\n".encode() + content if is_page else content
        )
        for found in re.findall(r'href="(/[^"#]*)', content.decode(errors="replace") * is_page):
            link = found.replace("&amp;", "&")
            if link not in seen and not LEFT_OUT.match(link):
                seen.add(link)
                waiting.append(link)


# Comparing


def compare(before: Path, after: Path) -> int:
    names = sorted(files_of(before) | files_of(after))
    different = [name for name in names if differs(before / name, after / name)]
    for name in different:
        print(f"{name}: {how(before / name, after / name)}")
    print(f"{len(different)} of {len(names)} files differ.")
    return 1 if different else 0


def files_of(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def differs(before: Path, after: Path) -> bool:
    return not (before.exists() and after.exists() and members(before) == members(after))


def members(path: Path) -> dict[str, bytes]:
    """An archive's files, one of another sort alone."""
    if path.suffix in (".zip", ".xlsx") or zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name: settled(archive.read(name)) for name in sorted(archive.namelist())}
    return {"": settled(path.read_bytes())}


def settled(content: bytes) -> bytes:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    return PASSING.sub("", text).encode()


def how(before: Path, after: Path) -> str:
    for path, side in ((before, "before"), (after, "after")):
        if not path.exists():
            return f"missing {side}"
    was, now = members(before), members(after)
    name = next(name for name in {**was, **now} if was.get(name) != now.get(name))
    old, new = (side.get(name, b"").decode(errors="replace").splitlines() for side in (was, now))
    told = [line[:160] for line in difflib.unified_diff(old, new, lineterm="", n=0)][2:8]
    return "\n    ".join([name, *told])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Every reader of files that come from elsewhere, with small real files to begin with.

A reader may refuse, with a sentence for whoever gave the file. Anything else is a finding. A target
of several files gets them in one text, in a fixed order, with a line of === between them.
"""

import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.archives import open_files
from annotation.benchmarks.formats.labelled import read_labelled
from annotation.benchmarks.formats.task_files import read_task_file
from annotation.benchmarks.importing import import_benchmark, import_episodes, read_source
from annotation.benchmarks.looking import looks
from annotation.kinds import answer_kind
from annotation.kinds.markup import markdown_html
from annotation.models import Assignment, Benchmark, Channel, Item, ItemSet, Job, Kind, Role
from annotation.models.errors import Refusal
from annotation.models.frozen import batch_content
from annotation.studies.people import read_people
from annotation.studies.study_file import writing
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import StudyFile, read_study_file
from annotation.work.judging import current_example
from config.backups.archive import (
    IDENTITY_KEY,
    MANIFEST,
    Backup,
    columns_of,
    content_of,
    lines_of,
    reset_sequences,
    tables_of,
)
from config.backups.restoring import fill
from scoring.bundle.packing import store, verify_bundle
from scoring.elsewhere.importing import Order, import_people
from scoring.episodes.checking import check_predictions
from scoring.prompts.formats import read_templates
from scoring.runs.formats import reported
from scoring.runs.formats.detecting import find_sources
from scoring.runs.formats.records import ReadOptions, RunFields, run_fields
from scoring.runs.formats.reported import import_scores
from scoring.runs.importing import import_predictions
from tests import make
from tests.annotation.benchmarks import clues_files, flex_files
from tests.scoring.bundle.packed import packed, resummed
from tests.scoring.comparison import measured
from tests.scoring.runs.runs_from import FILES, WHO, toy_benchmark
from tools.fuzzing.mutations import SEPARATOR

TESTS = Path(__file__).parents[2] / "tests"

Contents = Mapping[str, bytes]
ONE = ("file",)
TASK_FILES = ("task.json", "x_train_2_1.jsonl", "x_test.jsonl")
DATE = "2026-11-21T04-31-20.222666"


@dataclass(frozen=True)
class Target:
    read: Callable[[Contents], object]
    seeds: Callable[[], Sequence[bytes]]
    files: tuple[str, ...] = ONE

    def try_out(self, data: bytes) -> bool:
        """Whether the reader took it; False if it refused. What it stores does not stay."""
        parts = data.split(SEPARATOR)
        try:
            with transaction.atomic():
                self.read(dict(zip(self.files, parts, strict=False)))
                transaction.set_rollback(True)
        except (Refusal, CommandError):
            return False
        return True


def make_world() -> None:
    """What the readers find in the database, anew, before anything is rolled back."""
    for made in (toy, flex, bundle, superuser, at_work):
        made.cache_clear()
        made()
    # PostgreSQL alters no table, as restoring does, that has references to compare.
    connection.check_constraints()


def joined(*files: bytes) -> bytes:
    return SEPARATOR.join(files)


def _lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _zipped(files: Contents) -> io.BytesIO:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    buffer.seek(0)
    return buffer


# Benchmarks


def _read_archive(files: Contents) -> None:
    with open_files(io.BytesIO(files["file"])) as opened:
        for name in opened.names:
            opened.read(name)


def _archives() -> list[bytes]:
    row = _lines(clues_files.choice_row(1))
    return [
        _zipped({"x/x_test.jsonl": row}).getvalue(),
        (FILES / "inspect" / "names.eval").read_bytes(),
    ]


def _import_benchmark(files: Contents) -> None:
    import_benchmark(_zipped({f"x/{name}": data for name, data in files.items()}), name="fuzzed")


def _benchmarks() -> list[bytes]:
    choice, spans = clues_files.choice_row, clues_files.spans_row
    entity = {"text": "Anna", "answer_start": 0}
    marked = spans(3, entities=[{"start": 0, "end": 3}])
    return [
        joined(
            _lines({"title": "Mood", "kind": "choice", "choices": ["good", "bad"]}),
            _lines(choice(1), choice(2)),
            _lines(choice(3), choice(4)),
        ),
        joined(b"{}", _lines(spans(1), spans(2)), _lines(spans(3, [entity]))),
        joined(b"{}", _lines(marked, {**marked, "id": 9}), _lines({**marked, "id": 4})),
    ]


def _descriptions() -> list[bytes]:
    folder = TESTS.parent / "annotation" / "benchmarks" / "descriptions"
    return [file.read_bytes() for file in sorted(folder.glob("*.json"))]


def _read_table(files: Contents, suffix: str) -> None:
    read_labelled(files["file"], f"texts{suffix}")


def _tables() -> list[bytes]:
    return [
        b'id,text,label\n7,"Rain, all day.",weather\n8,A goal.,sport\n',
        b'{"text": ["Rain.", "Sun."], "label": 1, "question": "So?"}\n',
        b'text\tlabel\n"One\nTwo"\ta\nThree\tb\n',
    ]


def _import_table(files: Contents, suffix: str) -> None:
    file = io.BytesIO(files["file"])
    import_benchmark(file, name="fuzzed", file_name=f"questions{suffix}")


def _question_tables() -> list[bytes]:
    return [
        b"question,A,B,C,answer\nSum?,3,4,5,B\nNext?,1,2,3,C\n",
        b"question,choices,answer\n\"Which, then?\",\"['3', '5']\",1\nWho?,\"['a', 'b']\",0\n",
        _lines(
            {"question": "Sum?", "answer": "#### 1,130"}, {"question": "So?", "answer": "#### 2"}
        ),
        _lines({"question": "Who?", "choices": ["Anna", "Boris"], "answer": 1, "subject": "names"}),
    ]


def _packed() -> list[bytes]:
    return [gzip.compress(table) for table in _question_tables()[:2]]


def _known_sets() -> list[bytes]:
    """A row of each, as its files hold it."""
    file = TESTS / "annotation/benchmarks/known_sets.jsonl"
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [_lines(case["row"]) for case in cases]


def _look_at_table(files: Contents, suffix: str) -> None:
    """As the page does, whose result the database has to hold."""
    file, name = io.BytesIO(files["file"]), f"sst2-boolq-wsc-nq{suffix}"
    read, _ignored = read_source(file, None, lambda *_: None, file_name=name)
    Job(result={"looks": looks(read, lambda *_: None)}).save()


def _import_episodes(files: Contents) -> None:
    with Folder(files) as folder:
        import_episodes([folder / name for name in EPISODES], name="fuzzed")


EPISODES = ("challenge.jsonl", "answers.jsonl")


def _episodes() -> list[bytes]:
    small = flex_files.small()
    return [joined(_lines(*small.rows), _lines(*small.answers))]


# Runs


class Folder(TemporaryDirectory[str]):
    """The files, in a folder that goes."""

    def __init__(self, files: Contents) -> None:
        super().__init__(prefix="baseliner-fuzz-")
        for name, data in files.items():
            Path(self.name, name).write_bytes(data)

    def __enter__(self) -> Path:  # type: ignore[override]  # a path, not its text
        return Path(self.name)


@cache
def toy() -> Benchmark:
    return toy_benchmark()


def _import_runs(files: Contents, *, labels: tuple[str, ...] = (), task: str = "mood") -> None:
    run = run_fields({**WHO, "task": task})
    options = ReadOptions(run=run, labels=labels, same_answers=True, accept_differences=True)
    with Folder(files) as folder:
        # HELM's reader takes a folder, the others its first file.
        path = folder if "run_spec.json" in files else folder / next(iter(files))
        for reader, file in find_sources(path)[0]:
            if reader is reported.READER:
                import_scores(path=file, benchmark=toy(), options=ReadOptions())
            else:
                import_predictions(reader=reader, path=file, benchmark=toy(), options=options)


def _stored(*names: str) -> Callable[[], list[bytes]]:
    return lambda: [joined(*((FILES / name).read_bytes() for name in names))]


def _eval_archive(files: Contents) -> None:
    with NamedTemporaryFile(suffix=".eval") as file:
        Path(file.name).write_bytes(_zipped(files).getvalue())
        for reader, path in find_sources(Path(file.name))[0]:
            options = ReadOptions(run=run_fields({**WHO, "task": "mood"}), accept_differences=True)
            import_predictions(reader=reader, path=path, benchmark=toy(), options=options)


EVAL = ("header.json", "samples/one.json", "samples/two.json")


def _eval_files() -> list[bytes]:
    log = json.loads((FILES / "inspect" / "mood.json").read_bytes())
    header = {key: value for key, value in log.items() if key != "samples"}
    return [joined(*map(_lines, (header, *log["samples"][:2])))]


def _own_lines() -> list[bytes]:
    answers = [{"id": f"test {n}", "prediction": ["good"]} for n in range(4)]
    by_text = {"context": "Text.", "question": "?", "prediction": "bad"}
    prompt = {"id": "toy:mood:shots3-split1:test 1", "prediction": "bad", "task": "mood"}
    header = {**WHO, "task": "mood", "protocol": ["zero-shot"], "url": "https://example.org"}
    return [_lines(header, *answers), _lines(answers[0], by_text), _lines(prompt)]


def _import_people(files: Contents, *, suffix: str) -> None:
    order = Order(toy(), "Fuzzed", "nowhere", leaves_out=True)
    import_people(files["file"], f"people{suffix}", order, at=make.NOON, owner=None)


def _people_elsewhere() -> list[bytes]:
    moods = [{"person": 1, "task": "mood", "item": f"test {n}", "answer": "good"} for n in (0, 1)]
    pieces = {"person": "B", "task": "names", "item": "test 2", "answer": ["Anna"], "seconds": 2}
    score = {"person": "A", "task": "mood", "item": "test 1", "score": 0.5, "shots": 3, "split": 1}
    return [_lines(*moods, pieces), _lines(score)]


def _people_tables() -> list[bytes]:
    rows = 'A,mood,test 0,good,3\nA,names,test 1,"[""Anna""]",0.5\nB,mood,test 0,bad,\n'
    return [f"person,task,item,answer,seconds\n{rows}".encode()]


@cache
def flex() -> Benchmark:
    """With two episodes of subj."""
    with TemporaryDirectory() as folder:
        import_episodes(flex_files.small().save(Path(folder)), name="flex")
    return Benchmark.objects.get(name="flex")


def _flex_predictions() -> list[bytes]:
    asked = ItemSet.objects.filter(task__benchmark=flex(), task__slug="subj", role=Role.TEST)
    ids = Item.objects.filter(item_set__in=asked).values_list("source_id", flat=True)
    return [_lines({question: {"label": "1", "score": 0.5} for question in ids})]


def _import_flex_predictions(files: Contents) -> None:
    run = RunFields(system="A", method="FT")
    with Folder(files) as folder:
        [(reader, path)] = find_sources(folder / "predictions.json")[0]
        import_predictions(reader=reader, path=path, benchmark=flex(), options=ReadOptions(run=run))


def _mt_dnn() -> list[bytes]:
    ids = [f"test {n}" for n in range(4)]
    scores = {"metrics": {}, "uids": ids, "scores": [0.5] * 8}
    return [
        _lines({**scores, "predictions": [0, 1, 0, 2]}),
        _lines({**scores, "predictions": [["good"], "bad", [], [1]]}),
    ]


def _lists() -> list[bytes]:
    given = [["Anna"], [], ["Anna", "Boris"], ["Boris"]]
    return [_lines(given), _lines(*given)]


def _figures() -> list[bytes]:
    figure = {
        **{"kind": "model", "system": "GPT-3", "method": "ICL", "parameters": "175B"},
        **{"task": "mood", "shots": 10, "mean": 85.9, "sd": 3.7, "n": 5},
        **{"references": "unknown", "source": "CLUES Table 6"},
    }
    return [_lines({"benchmark": "toy", "scores": [figure, {**figure, "shots": "all"}]})]


def _check_predictions(files: Contents) -> None:
    with Folder({"predictions.json": files["file"]}) as folder:
        check_predictions([folder / "predictions.json"], benchmark=flex(), tasks=["subj"])


# Bundles, backups, prompts, people


@cache
def bundle() -> dict[str, bytes]:
    return packed(measured.cell([0, 4], tests=3).study)


def _import_bundle(files: Contents) -> None:
    """Changed by somebody who makes the checksums anew, so that they stop nothing; and shown."""
    given = dict(zip(CHANGED, files.values(), strict=False))
    checked = verify_bundle(_zipped(resummed({**bundle(), **given})))
    study, _is_new = store(checked, owner=None)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(superuser())
    status = client.get(reverse("scoring:imported_study", args=[study.pk])).status_code
    assert status == 200, status


@cache
def superuser() -> User:
    return User.objects.create_superuser("fuzzer")


CHANGED = ("study.json", "figures.jsonl", "judgements.jsonl", "items.jsonl", "tasks.jsonl")


def _bundles() -> list[bytes]:
    return [joined(*(bundle()[name] for name in CHANGED if name in bundle()))]


def _read_backup(files: Contents) -> None:
    with Folder({"backup.zip": _zipped(files).getvalue()}) as folder:
        Backup(folder / "backup.zip")


def _restore(files: Contents) -> None:
    """Where the sums are those of the changed rows."""
    held = {"table": "annotation.channel", "columns": columns_of(Channel)}
    rows, checksum = content_of(io.BytesIO(files["rows"]))
    manifest = {
        **{"format": 1, "made_at": "2026-11-01T12:00:00", "migrations": []},
        "tables": [{**held, "rows": rows, "checksum": checksum}],
    }
    entries = {MANIFEST: _lines(manifest), IDENTITY_KEY: b"key", CHANNELS: files["rows"]}
    zipped = Folder({"backup.zip": _zipped(entries).getvalue()})
    with zipped as folder, Backup(folder / "backup.zip") as backup:
        try:
            with transaction.atomic():
                fill(apps, backup)
                transaction.set_rollback(True)
        finally:
            # A server takes back no number that was given out.
            reset_sequences(tables_of(apps).values(), "default")


def _channels() -> list[bytes]:
    return [b"".join(lines_of(Channel, "default"))]


def _backups() -> list[bytes]:
    """A real one, of one table."""
    with ZipFile(TESTS / "config" / "backup_of_the_former_chain.zip") as archive:
        manifest = json.loads(archive.read(MANIFEST))
        tables = [held for held in manifest["tables"] if held["table"] in BACKUP[2]]
        held = [archive.read(name) for name in BACKUP[1:]]
    return [joined(_lines({**manifest, "tables": tables}), *held)]


def _read_templates(files: Contents) -> None:
    with Folder({"templates.json": files["file"]}) as folder:
        read_templates(folder / "templates.json")


def _templates() -> list[bytes]:
    return [(TESTS / "scoring" / "prompts" / "unifew_templates.json").read_bytes()]


def _read_answers(files: Contents) -> None:
    said = io.StringIO()
    with Folder({"answers.jsonl": files["file"]}) as folder:
        call_command("read_answers", folder / "answers.jsonl", system="A", method="FT", stdout=said)
    said.getvalue().encode()


def _replies() -> list[bytes]:
    choice = {"id": "toy:mood:shots0:1", "options": ["good", "bad"], "answer": "(A) good"}
    spans = {"id": "toy:names:shots0:1", "answer": '["Anna", "Boris"]'}
    typed = {"id": "toy:x:shots0:1", "answer_kind": "text", "answer": "Paris."}
    return [_lines(choice, spans, typed, {**choice, "role": "training"})]


def _read_people(files: Contents) -> None:
    read_people(files["file"].decode(errors="replace"))


def _render(files: Contents) -> None:
    html = markdown_html(files["file"].decode(errors="replace")).lower()
    for forbidden in ("<script", "<img", "<iframe", "<!--", 'href="javascript:', 'href="data:'):
        assert forbidden not in html, forbidden


def _markdown() -> list[bytes]:
    return [
        b"# Names\n\nMark *every* name:\n\n1. `Anna`\n2. [a link](https://example.org)\n\n> not\n",
        b'<script>alert(1)</script> ![x](https://example.org/x.png) [y](javascript:alert(1) "t")\n',
    ]


def _select(files: Contents) -> None:
    """What a browser sends for pieces of the text."""
    assignment = at_work()
    form = {"spans": files["file"].decode(errors="replace")}
    answer = answer_kind(Kind.SPANS).read(
        form, current_example(assignment), batch_content(assignment.batch_id)
    )
    json.dumps([list(span) for span in answer.spans]).encode()


@cache
def at_work() -> Assignment:
    return make.at_work(make.running_batch(kind=Kind.SPANS, tests=2))


BACKUP = (MANIFEST, IDENTITY_KEY, "tables/annotation.annotator.jsonl")
CHANNELS = "tables/annotation.channel.jsonl"
SPEC = ("run_spec.json", "scenario_state.json", "per_instance_stats.json")
# A study


def _apply_toml(files: Contents) -> None:
    apply_study(read_study_file(files["file"]))


def _apply_json(files: Contents) -> None:
    try:
        data = json.loads(files["file"])
    except (ValueError, RecursionError) as error:
        raise Refusal("Not JSON, which the API refuses.") from error
    apply_study(StudyFile(data), by=superuser())


def _study_tables() -> dict[str, Any]:
    tables = writing.document(writing.content_of(at_work().study))
    tables["study"] |= {"name": "fuzzed", "consents": {"de": "Ja."}, "ends": "2027-01-31"}
    tables["pools"] = [{"name": "all", "title": "All", "about": "Of here."}]
    tables["batches"][0] |= {"pool": "all", "items_a_person": 2, "people_an_item": 2}
    return tables


def _studies() -> list[bytes]:
    return [json.dumps(_study_tables()).encode()]


TARGETS: dict[str, Target] = {
    "archive": Target(_read_archive, _archives),
    "benchmark": Target(_import_benchmark, _benchmarks, TASK_FILES),
    "task-file": Target(lambda files: read_task_file(files["file"], "task.json"), _descriptions),
    "csv": Target(partial(_read_table, suffix=".csv"), _tables),
    "tsv": Target(partial(_read_table, suffix=".tsv"), _tables),
    "json-lines": Target(partial(_read_table, suffix=".jsonl"), _tables),
    "question-csv": Target(partial(_import_table, suffix=".csv"), _question_tables),
    "question-lines": Target(partial(_import_table, suffix=".jsonl"), _question_tables),
    "known-lines": Target(partial(_look_at_table, suffix=".jsonl"), _known_sets),
    "known-json": Target(partial(_look_at_table, suffix=".json"), _known_sets),
    "packed": Target(partial(_import_table, suffix=".csv.gz"), _packed),
    "episodes": Target(_import_episodes, _episodes, EPISODES),
    "own-lines": Target(_import_runs, _own_lines, ("runs.jsonl",)),
    "lm-eval": Target(
        _import_runs,
        _stored(f"lm_eval/samples_mood_{DATE}.jsonl", f"lm_eval/results_{DATE}.json"),
        (f"samples_mood_{DATE}.jsonl", f"results_{DATE}.json"),
    ),
    "helm": Target(
        partial(_import_runs, task="names"),
        _stored("helm/names/run_spec.json", "helm/names/scenario_state.json"),
        SPEC,
    ),
    "helm-separate": Target(
        _import_runs, _stored(*(f"helm/separate/{name}" for name in SPEC)), SPEC
    ),
    "inspect": Target(_import_runs, _stored("inspect/mood.json"), ("log.json",)),
    "inspect-archive": Target(_eval_archive, _eval_files, EVAL),
    "every-eval-ever": Target(
        _import_runs,
        _stored("every_eval_ever/5b0c5a7e-3c1d-4c8e-9a55-0f6f6e1c2d10_samples.jsonl"),
        ("samples.jsonl",),
    ),
    "people-elsewhere": Target(partial(_import_people, suffix=".jsonl"), _people_elsewhere),
    "people-elsewhere-csv": Target(partial(_import_people, suffix=".csv"), _people_tables),
    "flex-predictions": Target(_import_flex_predictions, _flex_predictions, ("predictions.json",)),
    "mt-dnn": Target(partial(_import_runs, labels=("good", "bad")), _mt_dnn, ("scores.json",)),
    "clues-lists": Target(partial(_import_runs, task="names"), _lists, ("lists.json",)),
    "reported-scores": Target(_import_runs, _figures, ("figures.json",)),
    "check-predictions": Target(_check_predictions, _flex_predictions),
    "bundle": Target(_import_bundle, _bundles, CHANGED),
    "backup": Target(_read_backup, _backups, BACKUP),
    "restore": Target(_restore, _channels, ("rows",)),
    "templates": Target(_read_templates, _templates),
    "replies": Target(_read_answers, _replies),
    "study-toml": Target(_apply_toml, lambda: [writing.as_toml(_study_tables()).encode()]),
    "study-json": Target(_apply_json, _studies),
    "people": Target(_read_people, lambda: [b"id\nanna@example.org\n'=7\n", b"a;1\nb;2\n"]),
    "markdown": Target(_render, _markdown),
    "selection": Target(_select, lambda: [b"[[0, 0, 4]]", b"[[0, 0, 4], [0, 0, 2]]"]),
}

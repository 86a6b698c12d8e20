import json
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from annotation.benchmarks import storing
from annotation.benchmarks.audit import Finding, audit_task
from annotation.benchmarks.chains import chains, shot_contents, unchained
from annotation.benchmarks.correcting import correct_gold
from annotation.benchmarks.importing import import_benchmark
from annotation.kinds.base import asked
from annotation.kinds.candidate import KIND as CANDIDATE
from annotation.models import Benchmark, Example, Gold, GoldVersion, Item, ItemSet, Task
from annotation.models.errors import BadInput, Frozen
from annotation.studies.lifecycle import start_study
from tests import make
from tests.annotation.benchmarks.clues_files import (
    choice_row,
    spans_row,
    write_rows,
    write_task,
    zipped,
)
from tests.every import every
from tests.together import at_once

pytestmark = pytest.mark.django_db

TABLES: tuple[type[Model], ...] = (Benchmark, Task, Example, GoldVersion, Gold, ItemSet, Item)


def state() -> list[list[dict[str, Any]]]:
    """Everything that an import may write."""
    return [list(model._default_manager.order_by("pk").values()) for model in TABLES]


def started_on(task: Task) -> None:
    """A study that has started on the first shot set and the test set of a task."""
    study = make.study(task.benchmark)
    make.batch(study, task)
    start_study(study, at=make.NOON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A benchmark of one described task, reviews."""
    write_task(tmp_path / "mine/Reviews", description="Good or bad?")
    return tmp_path / "mine"


@pytest.fixture
def reviews(folder: Path) -> Task:
    import_benchmark(folder, name="mine")
    return Task.objects.get(slug="reviews")


class TestClues:
    """The published files, task by task."""

    def imported(self, clues: Path, slug: str) -> Task:
        import_benchmark(clues, name="clues", tasks=[slug])
        return Task.objects.get(slug=slug)

    @pytest.mark.both_databases
    def test_imports_the_four_tasks(self, clues: Path) -> None:
        report = import_benchmark(clues, name="clues")
        counts = [(t.slug, t.kind, t.training_examples, t.test_examples) for t in report.tasks]
        assert sorted(counts) == [
            ("conll03", "spans", 450, 600),
            ("record", "candidate", 150, 200),
            ("squadv2", "spans", 150, 200),
            ("sst2", "choice", 150, 210),
        ]
        assert every(task.shot_sets == 15 and task.described for task in report.tasks)
        before = state()
        assert not import_benchmark(clues, name="clues").is_changed
        assert state() == before

    def test_keeps_one_example_for_each_sst2_training_content(self, clues: Path) -> None:
        task = self.imported(clues, "sst2")
        training = task.examples.filter(identity__startswith="content:")
        ids: dict[int, set[str]] = {pk: set() for pk in training.values_list("pk", flat=True)}
        for pk, source_id in Item.objects.filter(item_set__role="training").values_list(
            "example_id", "source_id"
        ):
            ids[pk].add(source_id)
        assert (len(ids), sum(len(several) > 1 for several in ids.values())) == (150, 99)
        assert every(s.choices == ["negative", "positive"] for s in task.item_sets.all())

    def test_keeps_equal_conll03_rows_under_their_ids(self, clues: Path) -> None:
        task = self.imported(clues, "conll03")
        test = task.examples.filter(item_sets__name="test")
        assert test.count() == 600
        assert test.values("content_hash").distinct().count() == 597
        assert task.item_sets.get(name="train-10-1").items.count() == 30
        assert test.get(identity="id:883_3").golds.get().alternatives == [[{"text": "Belgrade"}]]

    def test_takes_the_entities_of_record_as_candidates(self, clues: Path) -> None:
        task = self.imported(clues, "record")
        example = task.examples.get(identity="id:ReCoRD_5_6")
        assert CANDIDATE.options(asked(example, ()))[:3] == ("Palm Beach", "Florida", "CNN")
        assert "@placeholder" in example.question
        for example in task.examples.prefetch_related("golds"):
            (texts,) = example.golds.get().alternative_texts()
            assert set(texts) <= set(CANDIDATE.options(asked(example, ())))

    def test_locates_the_alternatives_of_squadv2(self, clues: Path) -> None:
        task = self.imported(clues, "squadv2")
        assert task.max_spans == 1
        for gold in Gold.objects.select_related("example"):
            for spans in gold.alternatives:
                assert len(spans) <= 1
                for span in spans:
                    context = gold.example.context[span["segment"]]
                    assert context[span["start"] :].startswith(span["text"])
        assert "plausible" not in repr(state())

    @pytest.mark.parametrize(
        ("slug", "paths"),
        [
            ("squadv2", ["1→5→5", "2→3→1", "3→1→2", "4→4→4", "5→2→3"]),
            ("record", ["1→2→1", "2→5→2", "3→3→4", "4→1→3", "5→4→5"]),
            ("sst2", [f"{n}→{n}→{n}" for n in range(1, 6)]),
            ("conll03", [f"{n}→{n}→{n}" for n in range(1, 6)]),
        ],
    )
    def test_finds_the_chains_by_content(self, clues: Path, slug: str, paths: list[str]) -> None:
        task = self.imported(clues, slug)
        assert [(chain.number, chain.path) for chain in chains(task)] == [
            (int(path[0]), path) for path in paths
        ]
        assert unchained(shot_contents(task), chains(task)) == []


def test_imports_a_folder(folder: Path) -> None:
    report = import_benchmark(folder, name="mine")
    task = Task.objects.get(benchmark__name="mine", slug="reviews")
    (training, test) = task.item_sets.order_by("name").reverse()
    assert (training.name, training.shots, training.split) == ("train-2-1", 2, 1)
    assert (test.name, test.role, test.choices) == ("test", "test", ["bad", "good"])
    assert training.source_file == "Reviews/x_train_2_1.jsonl"
    assert list(test.items.values_list("position", "source_id")) == [(0, "101"), (1, "102")]
    assert report.tasks[0].created
    assert (report.tasks[0].training_examples, report.tasks[0].test_examples) == (2, 2)


def test_stores_an_example_and_its_gold_as_the_file_says_them(tmp_path: Path) -> None:
    gold = {"text": "Boris", "answer_start": 9}
    row = spans_row(1, [gold], explanation="look at the end", is_impossible=False)
    write_task(tmp_path / "Who", [row], {})
    import_benchmark(tmp_path, name="mine")
    example = Example.objects.get()
    assert example.identity == "id:q1"
    assert example.context == ["Anna and Boris met 1 times."]
    assert example.question == "Who met?"
    assert Gold.objects.get().alternatives == [[{"text": "Boris", "segment": 0, "start": 9}]]
    assert GoldVersion.objects.get().reason == "import"
    assert "look at the end" not in repr(state())


class TestAgain:
    def test_changes_nothing_the_second_time(self, folder: Path) -> None:
        import_benchmark(folder, name="mine")
        before = state()
        report = import_benchmark(folder, name="mine")
        assert state() == before
        assert not report.is_changed

    def test_adds_a_task(self, folder: Path, reviews: Task) -> None:
        write_task(folder / "Who", [spans_row(1)], {})
        report = import_benchmark(folder, name="mine")
        assert [(task.slug, task.is_changed) for task in report.tasks] == [
            ("reviews", False),
            ("who", True),
        ]

    def test_imports_only_the_tasks_that_are_named(self, folder: Path) -> None:
        write_task(folder / "Who", [spans_row(1)], {})
        import_benchmark(folder, name="mine", tasks=["who"])
        assert [task.slug for task in Task.objects.all()] == ["who"]

    def test_adds_a_shot_set(self, folder: Path, reviews: Task) -> None:
        rows = [choice_row(1), choice_row(2), choice_row(3)]
        write_rows(folder / "Reviews/x_train_3_1.jsonl", rows)
        (report,) = import_benchmark(folder, name="mine").tasks
        assert (report.new_examples, report.new_golds, report.new_sets) == (1, 1, 1)
        assert [chain.path for chain in chains(reviews)] == ["1→1"]

    def test_updates_content_that_nobody_works_with(self, folder: Path, reviews: Task) -> None:
        rows = [choice_row(101, context="Rewritten."), choice_row(102)]
        write_rows(folder / "Reviews/x_test.jsonl", rows)
        (report,) = import_benchmark(folder, name="mine").tasks
        example = reviews.examples.get(identity="id:101")
        assert example.context == ["Rewritten."]
        assert (report.changed_examples, report.new_examples, report.new_sets) == (1, 0, 1)
        assert import_benchmark(folder, name="mine").is_changed is False

    def test_replaces_the_rows_of_a_set_that_nobody_works_with(
        self, folder: Path, reviews: Task
    ) -> None:
        rows = [choice_row(2), choice_row(7)]
        write_rows(folder / "Reviews/x_train_2_1.jsonl", rows)
        import_benchmark(folder, name="mine")
        items = Item.objects.filter(item_set__name="train-2-1")
        assert list(items.values_list("position", "source_id")) == [(0, "2"), (1, "7")]
        assert [i.example.context for i in items] == [["Review 2."], ["Review 7."]]

    def test_puts_changed_gold_into_a_version_of_its_own(self, folder: Path, reviews: Task) -> None:
        write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101, "bad"), choice_row(102)])
        import_benchmark(folder, name="mine")
        golds = Gold.objects.filter(example__identity="id:101").order_by("version__number")
        assert [(g.version.number, g.alternative_texts()) for g in golds] == [
            (1, [["good"]]),
            (2, [["bad"]]),
        ]
        assert import_benchmark(folder, name="mine").is_changed is False

    def test_leaves_gold_as_it_was_corrected_here(self, folder: Path, reviews: Task) -> None:
        correct_gold(reviews, {"id:101": [["bad"]]}, author=None, reason="It is a complaint.")
        assert import_benchmark(folder, name="mine").is_changed is False
        assert reviews.latest_gold_version().number == 2

    def test_leaves_what_was_written_in_the_admin(self, tmp_path: Path) -> None:
        write_task(tmp_path / "SST-2")
        import_benchmark(tmp_path, name="mine")
        Task.objects.update(description="Better words.", language="en-GB")
        assert import_benchmark(tmp_path, name="mine").is_changed is False
        task = Task.objects.get()
        assert (task.description, task.language) == ("Better words.", "en-GB")

    def test_takes_over_what_the_task_file_says(self, folder: Path, reviews: Task) -> None:
        write_task(folder / "Reviews", description="New words.", title="Films")
        (report,) = import_benchmark(folder, name="mine").tasks
        reviews.refresh_from_db()
        assert (reviews.description, reviews.title) == ("New words.", "Films")
        assert report.changed_fields == ["description", "title"]


class TestStartedStudy:
    @pytest.mark.both_databases
    def test_refuses_other_content_of_its_examples(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        before = state()
        rows = [choice_row(101), choice_row(102, context="Rewritten.")]
        write_rows(folder / "Reviews/x_test.jsonl", rows)
        with pytest.raises(Frozen, match=r"x_test.jsonl, line 2: .* context or question has ch"):
            import_benchmark(folder, name="mine")
        assert state() == before

    def test_refuses_other_gold_of_its_examples(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101, "bad"), choice_row(102)])
        with pytest.raises(Frozen, match=r"x_test.jsonl, line 1: .* gold has changed"):
            import_benchmark(folder, name="mine")
        write_task(folder / "Reviews", shots={(2, 1): [choice_row(1, "bad"), choice_row(2)]})
        with pytest.raises(Frozen, match=r"x_train_2_1.jsonl, line 1: .* gold has changed"):
            import_benchmark(folder, name="mine")

    def test_keeps_the_sample_that_people_were_shown(self, folder: Path, reviews: Task) -> None:
        fun, dull = ({"text": [text], "answer": ["good"]} for text in ("Fun.", "Dull."))
        write_task(folder / "Reviews", sample=fun)
        import_benchmark(folder, name="mine")
        started_on(Task.objects.get(pk=reviews.pk))
        write_task(folder / "Reviews", sample=dull)
        with pytest.raises(Frozen, match="so its sample cannot change"):
            import_benchmark(folder, name="mine")

    def test_leaves_a_task_without_a_sample_as_it_is(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        write_task(folder / "Reviews", sample={"text": ["Fun."], "answer": ["good"]})
        [report] = import_benchmark(folder, name="mine").tasks
        assert report.changed_fields == []
        assert Task.objects.get(pk=reviews.pk).sample == {}

    def test_refuses_other_rows_of_its_sets(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        write_rows(folder / "Reviews/x_train_2_1.jsonl", [choice_row(2), choice_row(1)])
        with pytest.raises(Frozen, match=r"x_train_2_1.jsonl: this set belongs to a study"):
            import_benchmark(folder, name="mine")

    def test_refuses_other_labels_of_its_sets(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        write_task(folder / "Reviews", choices=["bad", "good", "neither"])
        with pytest.raises(Frozen, match="its rows or labels have changed"):
            import_benchmark(folder, name="mine")

    @pytest.mark.parametrize(
        ("field", "value"),
        [("title", "Films"), ("language", "de"), ("direction", "rtl"), ("max_spans", 3)],
    )
    def test_refuses_to_change_a_field_that_annotators_see(
        self, folder: Path, reviews: Task, field: str, value: Any
    ) -> None:
        started_on(reviews)
        write_task(folder / "Reviews", **{field: value})
        with pytest.raises(Frozen, match=f"so its {field} cannot change from .* to {value!r}"):
            import_benchmark(folder, name="mine")

    @pytest.mark.parametrize(
        ("fields", "direction"),
        [
            ({"language": "ar"}, "rtl"),
            ({"language": "he-IL"}, "rtl"),
            ({"language": "ar", "direction": "ltr"}, "ltr"),
            ({"language": "ja"}, "ltr"),
            ({"language": "no-such-language"}, "ltr"),
            ({}, "ltr"),
        ],
    )
    def test_writes_a_new_task_in_the_direction_of_its_language(
        self, folder: Path, fields: dict[str, Any], direction: str
    ) -> None:
        write_task(folder / "Reviews", **fields)
        import_benchmark(folder, name="directed")
        assert Task.objects.get(benchmark__name="directed").direction == direction

    def test_refuses_other_content_of_what_was_judged(self, folder: Path, reviews: Task) -> None:
        batch = make.batch(make.study(reviews.benchmark), reviews)
        start_study(batch.study, at=make.NOON)
        batch.refresh_from_db()
        assert make.worked_through(batch).outcome == "completed"
        write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101, context="!"), choice_row(102)])
        with pytest.raises(Frozen, match="line 1"):
            import_benchmark(folder, name="mine")

    def test_allows_new_sets_and_another_description(self, folder: Path, reviews: Task) -> None:
        started_on(reviews)
        write_task(folder / "Reviews", description="New words.")
        write_rows(folder / "Reviews/x_train_1_1.jsonl", [choice_row(5)])
        import_benchmark(folder, name="mine")
        reviews.refresh_from_db()
        assert reviews.description == "New words."
        assert reviews.item_sets.count() == 3

    def test_allows_changes_before_it_starts(self, folder: Path, reviews: Task) -> None:
        make.batch(make.study(reviews.benchmark), reviews)
        write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101, context="!"), choice_row(102)])
        assert import_benchmark(folder, name="mine").tasks[0].changed_examples == 1


class TestExposureKey:
    def key(self, folder: Path, name: str = "") -> str:
        import_benchmark(folder, name=name or folder.name)
        return Task.objects.get(benchmark__name=name or folder.name).exposure_key

    def write(self, folder: Path, numbers: range, **task_file: Any) -> Path:
        rows = [choice_row(n, "good" if n % 2 else "bad") for n in numbers]
        write_task(folder / "Reviews", rows, {}, **task_file)
        return folder

    def test_is_shared_by_imports_of_the_same_content(self, tmp_path: Path) -> None:
        folder = self.write(tmp_path / "one", range(10))
        assert self.key(folder, "one") == self.key(folder, "two")

    def test_is_shared_where_half_of_the_smaller_test_is_the_same(self, tmp_path: Path) -> None:
        first = self.key(self.write(tmp_path / "one", range(100)))
        assert self.key(self.write(tmp_path / "two", range(95, 105))) == first
        assert self.key(self.write(tmp_path / "three", range(104, 114))) != first
        # Smaller than the existing one.
        assert self.key(self.write(tmp_path / "four", range(109, 300))) == self.key(
            tmp_path / "three"
        )

    def test_is_not_shared_by_less_than_half(self, tmp_path: Path) -> None:
        first = self.key(self.write(tmp_path / "one", range(100)))
        assert self.key(self.write(tmp_path / "two", range(96, 106))) != first

    def test_does_not_look_at_ids(self, tmp_path: Path) -> None:
        first = self.key(self.write(tmp_path / "one", range(4)))
        rows = [choice_row(n, id=f"other {n}") for n in range(4)]
        write_task(tmp_path / "two/Reviews", rows, {})
        assert self.key(tmp_path / "two") == first

    def test_follows_the_closest_relative(self, tmp_path: Path) -> None:
        self.key(self.write(tmp_path / "one", range(6)))
        closest = self.key(self.write(tmp_path / "two", range(100, 110)))
        rows = [choice_row(n) for n in [*range(4), *range(100, 106)]]
        write_task(tmp_path / "three/Reviews", rows, {})
        assert self.key(tmp_path / "three") == closest

    def test_can_be_set_by_the_task_file(self, tmp_path: Path) -> None:
        assert self.key(self.write(tmp_path / "one", range(4), exposure_key="films")) == "films"
        # Those that share the content share the key that was set.
        assert self.key(self.write(tmp_path / "two", range(4))) == "films"

    def test_stays_when_the_content_changes(self, tmp_path: Path) -> None:
        first = self.key(self.write(tmp_path / "one", range(4)))
        assert self.key(self.write(tmp_path / "one", range(50, 90))) == first


class TestArchive:
    @pytest.mark.parametrize("top", ["", "mine"])
    def test_imports_an_archive(self, folder: Path, top: str) -> None:
        report = import_benchmark(zipped(folder, top=top), name="mine")
        assert [task.slug for task in report.tasks] == ["reviews"]
        assert import_benchmark(folder, name="mine").is_changed is False

    def test_imports_nothing_of_a_bad_archive(self, folder: Path) -> None:
        data = zipped(folder).getvalue()
        with pytest.raises(BadInput):
            import_benchmark(BytesIO(data[: len(data) // 2]), name="mine")
        assert not Benchmark.objects.exists()


class TestBadFile:
    def test_imports_nothing_of_any_task(self, folder: Path) -> None:
        write_task(folder / "Broken", [choice_row(1, answer="good")], {})
        with pytest.raises(BadInput, match=r"Broken/x_test.jsonl, line 1"):
            import_benchmark(folder, name="mine")
        assert not Benchmark.objects.exists()

    def test_names_the_tasks_there_are(self, folder: Path) -> None:
        with pytest.raises(BadInput, match="There is no task “sst2” here; there are reviews"):
            import_benchmark(folder, name="mine", tasks=["sst2"])

    @pytest.mark.parametrize("name", ["", "my benchmark", "ä", "x" * 81, "a/b"])
    def test_rejects_a_name_that_is_no_slug(self, folder: Path, name: str) -> None:
        with pytest.raises(BadInput, match="cannot be a name"):
            import_benchmark(folder, name=name)


def test_tells_its_progress_before_it_writes(folder: Path) -> None:
    write_task(folder / "Who", [spans_row(1)], {})
    told: list[tuple[int, int, str, int]] = []

    def progress(done: int, total: int, message: str) -> None:
        told.append((done, total, message, Task.objects.count()))

    import_benchmark(folder, name="mine", progress=progress)
    assert told == [(0, 2, "Reading Reviews", 0), (1, 2, "Reading Who", 0), (2, 2, "Storing", 0)]


def test_reports_in_json(folder: Path) -> None:
    imported = import_benchmark(folder, name="mine")
    report = json.loads(json.dumps(asdict(imported)))
    assert imported.summary == "mine: 1 task read, stored."
    assert report["tasks"][0]["slug"] == "reviews"


def test_keeps_the_audit_with_the_task(folder: Path) -> None:
    (report,) = import_benchmark(folder, name="mine").tasks
    audit = Task.objects.get().audit
    assert [finding["code"] for finding in audit] == [f.code for f in report.findings]
    assert {"code", "severity", "message", "examples", "figures"} == set(audit[0])


def test_refuses_a_label_that_fits_on_no_button(tmp_path: Path) -> None:
    write_task(tmp_path / "T", [choice_row(1, "good"), choice_row(2, "x" * 1_001)], {})
    with pytest.raises(BadInput, match=r"^t: the label “x{40}…” has 1,001 characters, and at"):
        import_benchmark(tmp_path, name="mine")


def test_asks_the_database_as_often_for_many_sets_as_for_few(tmp_path: Path) -> None:
    """But for an insert more where SQLite takes no more rows at once."""
    asked = []
    for name, many in (("few", 2), ("many", 60)):
        shots = {(1, n): [choice_row(n)] for n in range(1, many)}
        write_task(tmp_path / name / "Task", [choice_row(100), choice_row(101)], shots)
        with CaptureQueriesContext(connection) as first:
            import_benchmark(tmp_path / name, name=name)
        with CaptureQueriesContext(connection) as again:
            import_benchmark(tmp_path / name, name=name)
        asked.append((len(first), len(again)))
    (first_few, again_few), (first_many, again_many) = asked
    assert first_few <= first_many <= first_few + 4
    assert again_few == again_many


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_imports_once_when_two_import_at_once(folder: Path) -> None:
    reports = at_once(lambda number: import_benchmark(folder, name="mine"), 3)
    assert sorted(report.is_changed for report in reports) == [False, False, True]
    assert (Benchmark.objects.count(), Task.objects.count(), Example.objects.count()) == (1, 1, 4)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_lets_no_study_start_on_what_it_is_about_to_replace(
    folder: Path, reviews: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = make.batch(make.study(reviews.benchmark), reviews)
    write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101, context="!"), choice_row(102)])
    starting = Event()
    audit = audit_task

    def audit_while_the_study_starts(*arguments: Any) -> list[Finding]:
        starting.set()
        sleep(0.5)
        return audit(*arguments)

    def work(number: int) -> None:
        if number == 0:
            import_benchmark(folder, name="mine")
        else:
            starting.wait()
            start_study(batch.study, at=make.NOON)

    monkeypatch.setattr(storing, "audit_task", audit_while_the_study_starts)
    at_once(work, 2)
    batch.study.refresh_from_db()
    (frozen,) = batch.study.frozen["batches"]
    assert frozen["test_checksum"] == reviews.item_sets.get(name="test").checksum
    assert reviews.examples.get(identity="id:101").context == ["!"]

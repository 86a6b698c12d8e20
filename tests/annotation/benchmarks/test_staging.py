"""An import is written bit by bit, and seen whole or not at all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.benchmarks import importing
from annotation.benchmarks.importing import import_benchmark, remove_abandoned
from annotation.jobs import pacing
from annotation.models import (
    Benchmark,
    Example,
    Gold,
    GoldVersion,
    Item,
    ItemSet,
    Job,
    Task,
    Upload,
)
from scoring.planning.forms import DraftForm
from tests.annotation.benchmarks.clues_files import choice_row, write_task

WRITTEN = (Task, Example, GoldVersion, Gold, ItemSet, Item)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    many = [choice_row(number) for number in range(101, 1401)]
    write_task(tmp_path / "mine/Reviews", many, description="Good or bad?")
    return tmp_path / "mine"


def leave_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process leaves that is killed when all is written and nothing is published."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(importing, "_publish", die)
        patch.setattr(importing, "remove", lambda staged: None)
        with pytest.raises(KeyboardInterrupt):
            import_benchmark(folder, name="mine")


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
class TestBitByBit:
    def test_writes_in_short_transactions(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes: list[int] = []
        bulk_create = pacing.write

        def counted(act: Callable[[], object]) -> object:
            assert not connection.in_atomic_block
            sizes.append(Example.objects.count())
            return bulk_create(act)

        monkeypatch.setattr(pacing, "write", counted)
        import_benchmark(folder, name="mine")
        assert {0, 500, 1000} <= set(sizes)

    def test_makes_rows_ready_while_others_may_write(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ready, kinds = pacing._insertion, set()

        def outside(rows: Sequence[Any]) -> tuple[str, list[list[Any]]]:
            assert not connection.in_atomic_block
            kinds.add(type(rows[0]))
            return ready(rows)

        monkeypatch.setattr(pacing, "_insertion", outside)
        import_benchmark(folder, name="mine")
        assert kinds == {Example, Gold, Item}
        asked = Item.objects.filter(item_set__role="test").select_related("example")
        assert len(asked) == 1300
        for item in asked:
            assert item.example.identity == f"id:{item.source_id}"
            row = choice_row(int(item.source_id))
            assert item.example.context == [row["context"]]
            assert item.example.golds.get().alternative_texts() == [row["answer"]]

    def test_is_seen_by_nobody_before_it_is_whole(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave_behind(folder, monkeypatch)
        assert Example.objects.exists()
        assert not Benchmark.objects.exists()
        offered: Any = DraftForm(user=User.objects.create_superuser("ada")).fields["task"]
        assert not offered.queryset.exists()

    def test_is_imported_whole_after_it_was_interrupted(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave_behind(folder, monkeypatch)
        report = import_benchmark(folder, name="mine")
        assert (report.tasks[0].created, report.tasks[0].test_examples) == (True, 1300)
        assert Benchmark.objects.get().tasks.get().examples.count() == 1302
        assert not import_benchmark(folder, name="mine").is_changed

    def test_is_removed_when_nobody_has_finished_it(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave_behind(folder, monkeypatch)
        remove_abandoned(at=timezone.now())
        assert Example.objects.exists()
        remove_abandoned(at=timezone.now() + timedelta(hours=7))
        assert not Benchmark.every.exists()
        assert not any(model.objects.exists() for model in WRITTEN)

    def test_leaves_nothing_when_it_is_cancelled(self, folder: Path) -> None:
        def cancelled(done: int, total: int, message: str) -> None:
            if Gold.objects.exists():
                raise KeyboardInterrupt

        importing.TELLS_EVERY_S, before = 0, importing.TELLS_EVERY_S
        try:
            with pytest.raises(KeyboardInterrupt):
                import_benchmark(folder, name="mine", progress=cancelled)
        finally:
            importing.TELLS_EVERY_S = before
        assert not Benchmark.every.exists()
        assert not any(model.objects.exists() for model in WRITTEN)

    def test_gives_way_to_another_that_was_quicker(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        publish = importing._publish
        first = [True]

        def overtaken(*arguments: Any) -> object:
            if first:
                first.pop()
                transaction.set_rollback(True)
                raise importing._Overtaken
            return publish(*arguments)

        monkeypatch.setattr(importing, "_publish", overtaken)
        import_benchmark(folder, name="mine")
        assert Benchmark.every.count() == 1
        assert Task.objects.count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_is_whole_in_spite_of_a_kill(folder: Path) -> None:
    """The command, killed for real while it writes, and run again."""
    command = [sys.executable, "manage.py", "import_benchmark", str(folder)]
    settings_of_this_database = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": url_of_this_database(),
    }
    process = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env=settings_of_this_database,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not Example.objects.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    seen = Benchmark.objects.count()
    assert seen == Task.objects.filter(benchmark__is_staged=False).count()
    subprocess.run(command, cwd=settings.BASE_DIR, env=settings_of_this_database, check=True)
    assert Benchmark.objects.get().tasks.get().examples.count() == 1302


def url_of_this_database() -> str:
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    return f"postgresql://{found['USER']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


@pytest.mark.both_databases
@pytest.mark.django_db
def test_keeps_a_file_that_was_looked_at_for_some_hours() -> None:
    """And one that a job has yet to read for as long as that takes."""
    now, over = timezone.now(), {"state": "done", "finished_at": timezone.now()}
    files = {name: Upload.objects.create(name=name, data=b"") for name in ("seen", "read", "none")}
    Job.objects.create(kind="look_at_benchmark", upload=files["seen"], **over)
    Job.objects.create(kind="look_at_benchmark", upload=files["read"], **over)
    Job.objects.create(kind="import_benchmark", upload=files["read"])
    remove_abandoned(at=now + timedelta(hours=5))
    assert Upload.objects.count() == 3
    remove_abandoned(at=now + timedelta(hours=7))
    assert set(Upload.objects.values_list("name", flat=True)) == {"read"}

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line

from annotation.models import Benchmark, Task
from tests.annotation.benchmarks.clues_files import (
    choice_row,
    spans_row,
    write_rows,
    write_task,
    zipped,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_task(tmp_path / "My Benchmark/Reviews", description="Good or bad?")
    return tmp_path / "My Benchmark"


def run(*arguments: object) -> tuple[str, str]:
    """What the command wrote to stdout and to stderr."""
    out, err = StringIO(), StringIO()
    call_command("import_benchmark", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_prints_counts_and_the_audit(folder: Path) -> None:
    out, err = run(folder)
    assert out.startswith(
        "reviews: choice, 2 training examples in 1 shot set, 2 test examples (new)\n"
        "  note: Rows.\n      4 read, 4 stored\n"
        "  note: What no skill earns (S1 in percent, policy any): no answer everywhere 0.00, "
        "the best single label everywhere 50.00, every label at once 66.67.\n"
    )
    assert err == "my-benchmark: 1 task read, stored.\n"
    assert Benchmark.objects.get().name == "my-benchmark"


def test_shows_the_first_items_and_stores_nothing(tmp_path: Path) -> None:
    table = tmp_path / "towns.csv"
    table.write_text("question,A,B,answer,source\nWhich is in Kenya?,Lagos,Nairobi,B,web\n")
    out, err = run(table, "--dry-run")
    assert out == (
        "towns: choice; test (1)\n"
        "  No language is named, so it counts as English (`en`). "
        "“language” in the task's file names another\n"
        "  Columns, as they were found. question: question; answer: answer; options: A, B\n"
        "  Columns that hold no part of what is asked, and are left out: 1. source\n"
        "  Rows. 1 read, 1 stored\n"
        "  towns.csv, line 2\n"
        "    | Which is in Kenya?\n"
        "    [Lagos] [Nairobi *]\n"
    )
    assert err == "Nothing was stored: leave out --dry-run to store it.\n"
    assert not Benchmark.objects.exists()


def test_a_dry_run_shows_what_the_audit_doubts(tmp_path: Path) -> None:
    table = tmp_path / "towns.csv"
    table.write_text("question,A,B,answer\n" + "Where?,Lagos,Nairobi,B\n" * 2)
    out, _err = run(table, "--dry-run")
    assert "  warning: Test rows that repeat the content of another under a different id: 1" in out
    assert not Benchmark.every.exists()


def test_leaves_out_what_is_not_used_if_told(tmp_path: Path) -> None:
    table = tmp_path / "towns.csv"
    table.write_text("question,answer,Notes\nWho?,Ann,As asked.\n")
    with pytest.raises(CommandError, match=r'“Notes” holds text.*"unused": \["Notes"\]'):
        run(table)
    out, _err = run(table, "--leave-out-unused")
    assert "Columns that are not used: 1.\n      Notes" in out
    assert Task.objects.get().examples.count() == 1


def test_prints_examples_under_their_finding(folder: Path) -> None:
    write_rows(folder / "Reviews/x_test.jsonl", [choice_row(101), choice_row(101, id="again")])
    assert (
        "1 of 2; contents with more than one gold: 0.\n      test again: Review 101.\n"
        in run(folder)[0]
    )


def test_says_that_nothing_changed(folder: Path) -> None:
    run(folder)
    out, err = run(folder)
    assert "2 test examples (no change)\n" in out
    assert err == "my-benchmark: 1 task read, no change.\n"


def test_says_what_changed(folder: Path) -> None:
    run(folder)
    rows = [choice_row(101, context="Rewritten."), choice_row(102, "good"), choice_row(103)]
    write_rows(folder / "Reviews/x_test.jsonl", rows)
    news = "(new examples: 1, changed examples: 1, new golds: 2, new or changed sets: 1)\n"
    assert news in run(folder)[0]


def test_takes_a_name_and_some_of_the_tasks(folder: Path) -> None:
    for name in ("Who", "Where"):
        write_task(folder / name, [spans_row(1)], {}, description="Who?")
    run(folder, "--name", "mine", "--task", "who", "--task", "reviews")
    assert sorted(Task.objects.values_list("benchmark__name", "slug")) == [
        ("mine", "reviews"),
        ("mine", "who"),
    ]


def test_takes_an_archive_and_its_name(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "films-v2.zip"
    path.write_bytes(zipped(folder, top="films").getvalue())
    run(path)
    assert Benchmark.objects.get().name == "films-v2"


def test_takes_the_name_of_the_present_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    run(".")
    assert Benchmark.objects.get().name == "my-benchmark"


def test_asks_for_the_description_that_is_missing(folder: Path) -> None:
    write_task(folder / "Who", [spans_row(1)], {})
    err = run(folder)[1]
    assert "who has no description, which every study needs" in err
    assert "reviews has no description" not in err


def test_says_which_files_it_did_not_read(folder: Path) -> None:
    write_rows(folder / "Reviews/x_dev.jsonl", [choice_row(1)])
    assert "Not read: Reviews/x_dev.jsonl\n" in run(folder)[1]


def test_refuses_a_bad_file_in_one_sentence_and_imports_nothing(folder: Path) -> None:
    write_task(folder / "Broken", [choice_row(1), choice_row(2, answer="good")], {})
    with pytest.raises(CommandError) as refusal:
        run(folder)
    assert str(refusal.value) == (
        "Broken/x_test.jsonl, line 2: “answer” must be a list, but it is a string. "
        "Nothing was imported."
    )
    assert not Benchmark.objects.exists()


def test_ends_with_status_1_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        execute_from_command_line(["manage.py", "import_benchmark", str(tmp_path / "nothing")])
    assert end.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        "nothing does not exist; name a folder, a zip file or a table. Nothing was imported.\n"
        in err
    )
    assert "Traceback" not in err


def test_refuses_a_folder_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no table of questions here"):
        run(tmp_path)

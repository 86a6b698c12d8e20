"""Small logs in the shapes that harnesses write, each of which was joined wrong once: a perfect
system scores 100."""

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Gold
from scoring.models import Run
from scoring.runs.naming import by_way, in_item
from scoring.runs.scores import scores_of_run
from tests import make
from tests.skips import SHARED, WITHOUT_FILES

FOLDER = SHARED / "cases" / "files"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=WITHOUT_FILES),
]
NUMBERS, LETTERS = FOLDER / "02-number-options", FOLDER / "15-letters-as-options"
LABELS, ALIKE = FOLDER / "16-class-labels", FOLDER / "10-labels-alike"
LETTERS_LOG = LETTERS / "lm" / "samples_let_2026-01-04T00-00-00.000000.jsonl"


def score_of(benchmark: Path, log: Path, **options: str) -> float:
    import_benchmark(benchmark, name="cases")
    call_command("import_runs", str(log), benchmark="cases", **options)
    run = Run.objects.get()
    assert run.predictions.count() == run.test_set.items.count()
    return scores_of_run(run, ["any"])[0].mean


def alone(log: Path, into: Path) -> Path:
    """A log without the others that lie beside it, but with what belongs to it."""
    for path in log.parent.iterdir():
        if path == log or path.name.startswith("results"):
            shutil.copy(path, into)
    return into / log.name


@pytest.mark.parametrize(
    ("benchmark", "log", "options"),
    [
        (NUMBERS / "aa", NUMBERS / "lm" / "samples_aa_2026-01-01T00-00-00.000000.jsonl", {}),
        (NUMBERS / "aa", NUMBERS / "aa-inspect.json", {}),
        (NUMBERS / "aa", NUMBERS / "helm-separate", {}),
        (
            NUMBERS / "arcn.jsonl",
            NUMBERS / "lm" / "samples_arcn_2026-01-06T00-00-00.000000.jsonl",
            {"system": "toy", "shots": "5"},
        ),
        (
            LETTERS / "let",
            LETTERS / "lm" / "samples_let_2026-01-04T00-00-00.000000.jsonl",
            {"system": "toy", "shots": "0"},
        ),
        (
            LABELS / "boolq.jsonl",
            LABELS / "samples_boolq_2026-01-02T00-00-00.000000.jsonl",
            {"system": "toy", "shots": "0"},
        ),
        (ALIKE / "sp.jsonl", ALIKE / "sp-pred.jsonl", {}),
    ],
    ids=["lm-eval", "Inspect", "HELM", "lm-eval of ARC", "letters", "labels", "plain"],
)
def test_a_perfect_log_scores_a_hundred(
    tmp_path: Path, benchmark: Path, log: Path, options: dict[str, str]
) -> None:
    path = alone(log, tmp_path) if log.is_file() else log
    assert score_of(benchmark, path, **options) == 100


def test_a_log_that_judges_otherwise_is_refused_unless_told(tmp_path: Path) -> None:
    log = alone(NUMBERS / "lm" / "samples_aa_2026-01-01T00-00-00.000000.jsonl", tmp_path)
    import_benchmark(NUMBERS / "aa", name="cases")
    gold = Gold.objects.order_by("pk").first()
    assert gold is not None
    gold.alternatives = [[{"text": "0"}]]
    gold.save()
    with pytest.raises(
        CommandError,
        match=r"1 of 4 answers are judged otherwise by the log itself: 1: “2” is wrong here",
    ):
        call_command("import_runs", str(log), benchmark="cases")
    assert not Run.objects.exists()
    call_command("import_runs", str(log), benchmark="cases", accept_differences=True)
    assert scores_of_run(Run.objects.get(), ["any"])[0].mean == 75


def plain(tmp_path: Path, answers: list[str], **header: str) -> Path:
    rows = [{"system": "m", "method": "ICL", "task": "aa", "shots": 0, **header}]
    rows += [{"id": n, "prediction": text} for n, text in enumerate(answers, start=1)]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize(
    ("answers", "header"),
    [
        (["2", "2", "1", "0"], {"answer_by": "text"}),
        (["2", "3", "0", "1"], {"answer_by": "index"}),
        (["3", "4", "1", "2"], {"answer_by": "number"}),
        (["C", "D", "A", "B"], {}),
        # The last is the text of no option: they are places.
        (["C. 2", "D. 2", "A. 1", "B. 0"], {}),
    ],
)
def test_a_plain_file_says_how_it_names_options(
    tmp_path: Path, answers: list[str], header: dict[str, str]
) -> None:
    assert score_of(NUMBERS / "aa", plain(tmp_path, answers, **header)) == 100


@pytest.mark.parametrize("answers", [["2", "2", "1", "0"], ["2", "3", "0", "1"]])
def test_a_plain_file_that_may_mean_two_things_is_refused(
    tmp_path: Path, answers: list[str]
) -> None:
    import_benchmark(NUMBERS / "aa", name="cases")
    with pytest.raises(CommandError, match='"answer_by": "index" or "answer_by": "text"'):
        call_command("import_runs", str(plain(tmp_path, answers)), benchmark="cases")
    assert not Run.objects.exists()


def test_compares_nothing_for_whoever_may_not_see_the_gold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log with made-up verdicts would tell them the gold."""
    log = alone(NUMBERS / "lm" / "samples_aa_2026-01-01T00-00-00.000000.jsonl", tmp_path)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text("\n".join(json.dumps({**row, "acc": 0.0}) for row in rows))
    import_benchmark(NUMBERS / "aa", name="cases")
    stranger = make.researcher()
    call_command("import_runs", str(log), benchmark="cases", owner=stranger.username)
    assert "judged otherwise" not in capsys.readouterr().out
    Run.objects.all().delete()
    with pytest.raises(CommandError, match="4 of 4 answers are judged otherwise"):
        call_command("import_runs", str(log), benchmark="cases")


def alike(number: int, options: list[str]) -> dict[str, object]:
    return {"id": f"q{number}", "question": "Which?", "choices": options, "answer": 0}


def test_options_tell_items_of_one_text_apart(tmp_path: Path) -> None:
    first, second = ["oil", "tea"], ["milk", "salt"]
    (tmp_path / "t.jsonl").write_text(
        "\n".join(json.dumps(alike(n, own)) for n, own in enumerate((first, second)))
    )
    import_benchmark(tmp_path / "t.jsonl", name="alike")
    rows = [
        {
            "doc_id": n,
            "doc": {"question": "Which?", "choices": options, "answer": 0},
            "arguments": [["Which?", " A"], ["Which?", " B"]],
            "resps": [],
            "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
            "acc": 1.0,
        }
        # In the other order than the benchmark's.
        for n, options in enumerate((second, first, ["iron", "wood"]))
    ]
    log = tmp_path / "samples_t_2026-01-01T00-00-00.000000.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    call_command("import_runs", str(log), benchmark="alike", system="toy", shots="0")
    run = Run.objects.get()
    assert run.report["unmatched"] == 1
    assert dict(run.predictions.values_list("example__identity", "answer")) == {
        "id:q0": ["0"],
        "id:q1": ["0"],
    }


def test_an_answer_that_names_no_option_is_not_the_number_of_one() -> None:
    own = ["4", "2", "0", "3"]
    # Without the log's own list a place is a place, whatever the texts look like.
    assert in_item((0,), (), own) == ("0",)
    assert in_item((1,), ("7", "1"), own) == ("“1”",)
    assert in_item((2,), ("3", "0", "2", "4"), own) == ("1",)
    assert in_item((5,), (), ()) == ("option 6",)
    assert by_way(["1", "2", "none"], own, "text") == ("“1”", "1", "none")
    assert by_way(["0", "1"], own, "number") == ("“0”", "0")

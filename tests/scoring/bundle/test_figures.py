"""The script that leaves with a bundle: without Django, it comes to the product's figures."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Batch, Kind, Normalisation, ReferencePolicy, Study
from annotation.studies.lifecycle import start_study
from annotation.studies.people import exclude
from scoring.bundle import figures
from scoring.bundle.figures import cell_figures, rebuilt, score
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.core.intervals import ESTIMANDS
from scoring.core.normalisation import normalised, normalised_golds
from scoring.core.s1 import score_one
from tests import make
from tests.annotation.benchmarks.sampled import sampled
from tests.scoring.bundle.packed import make_bare_python, packed, rows, run_figures, unpacked
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

CLOSE = 1e-9


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bare_python(tmp_path_factory.mktemp("bare"))


def study_with_everything() -> Study:
    """Spans, typed answers under a normalisation, zero-shot, somebody excluded, and annotators who
    did not all see the same items."""
    benchmark = make.benchmark()
    study = make.study(benchmark)
    spans = make.task(benchmark, kind=Kind.SPANS, training=2, tests=5)
    typed = make.task(benchmark, kind=Kind.TEXT, training=2, tests=4, normalisation="squad")
    test = typed.item_sets.get(name="test")
    part = make.item_set(typed, list(test.examples.all())[:3], name="part", role="test")
    batches = [
        make.batch(study, spans, wanted=9),
        make.batch(study, spans, zero_shot=True, wanted=9),
        make.batch(study, typed, wanted=9),
        Batch.objects.create(
            study=study,
            task=typed,
            test_set=part,
            wanted=9,
            training_set=typed.item_sets.get(role="training"),
        ),
    ]
    start_study(study, at=make.NOON)
    for number, batch in enumerate(batches):
        batch.refresh_from_db()
        for wrong in range(2 + number):
            make.worked_through(batch, wrong=2 + wrong)
    exclude(study.assignments.latest("pk"), reason="asleep")
    return study


def product_rows(study: Study, *, with_excluded: bool) -> list[dict[str, Any]]:
    found = []
    for references in ReferencePolicy.values:
        for estimand in ESTIMANDS:
            choices = Choices(references=references, estimand=estimand, with_excluded=with_excluded)
            for cell in CellReader(choices).people(study):
                row = cell_row(cell, choices)
                asked = {"asked": estimand, "with_excluded": with_excluded}
                names = ("ci_method", *figures.NUMBERS)
                key = {name: asked.get(name, getattr(row, name, None)) for name in figures.KEY}
                found.append(key | {name: getattr(row, name) for name in names})
    return found


def is_close(one: float | None, other: float | None) -> bool:
    return one == other if None in (one, other) else abs(float(one or 0) - (other or 0)) <= CLOSE


def key(row: dict[str, Any]) -> list[str]:
    return [str(row[name]) for name in figures.KEY]


def assert_agree(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(sorted(ours, key=key), sorted(theirs, key=key), strict=True):
        assert key(one) == key(other)
        assert one["ci_method"] == other["ci_method"]
        for name in figures.NUMBERS:
            assert is_close(one[name], other[name]), (key(one), name)


@pytest.mark.both_databases
def test_comes_to_the_figures_of_the_product() -> None:
    study = study_with_everything()
    files = packed(study, with_excluded=True)
    computed = list(rebuilt(lambda name: iter(rows(files, name))))
    product = product_rows(study, with_excluded=False) + product_rows(study, with_excluded=True)
    assert {row["ci_method"] for row in product} >= {"wilson", "wilson-gaps", "guard", "t"}
    assert_agree(computed, product)


def test_runs_where_there_is_no_django(bare_python: Path, tmp_path: Path) -> None:
    study = study_with_everything()
    files = packed(study)
    has_django = subprocess.run(
        [bare_python, "-c", "import django"], check=False, capture_output=True
    )
    assert has_django.returncode != 0
    done = run_figures(bare_python, unpacked(files, tmp_path / "bundle"))
    assert done.returncode == 0, done.stderr
    shown = [line.split("\t") for line in done.stdout.splitlines()]
    product = product_rows(study, with_excluded=False)
    assert len(shown) == len(product)
    by_key = {tuple(str(row[name]) for name in figures.KEY): row for row in product}
    for line in shown:
        row = by_key[tuple(line[: len(figures.KEY)])]
        for name, text in zip(figures.NUMBERS, line[len(figures.KEY) + 1 :], strict=True):
            value = None if text == "-" else float(text)
            assert is_close(value, row[name]), line


def test_says_so_where_a_figure_is_another(bare_python: Path, tmp_path: Path) -> None:
    files = packed(measured.cell([0, 1, 2]).study)
    changed = files["figures.jsonl"].replace(b'"sd": ', b'"sd": 1', 1)
    done = run_figures(
        bare_python, unpacked({**files, "figures.jsonl": changed}, tmp_path / "bundle")
    )
    assert done.returncode == 1


def test_pools_people_within_their_splits() -> None:
    study = measured.study_with_splits(splits=3, people=2)[0].study
    files = packed(study)
    assert_agree(
        list(rebuilt(lambda name: iter(rows(files, name)))),
        product_rows(study, with_excluded=False),
    )


@pytest.mark.both_databases
def test_takes_episodes_together() -> None:
    benchmark = make.benchmark()
    sampled(benchmark=benchmark.name)
    task = benchmark.tasks.get(slug="topics")
    task.description = make.DESCRIPTION
    task.save()
    study = make.study(benchmark)
    tests = task.item_sets.filter(role="test", episode__isnull=False).order_by("episode")[:4]
    for test in tests:
        training = task.item_sets.filter(role="training", episode=test.episode).first()
        Batch.objects.create(study=study, task=task, training_set=training, test_set=test, wanted=4)
    start_study(study, at=make.NOON)
    for number, batch in enumerate(study.batches.order_by("pk")):
        batch.refresh_from_db()
        make.worked_through(batch, wrong=number)
    product = product_rows(study, with_excluded=False)
    assert "episode-bootstrap" in {row["ci_method"] for row in product}
    files = packed(study)
    assert_agree(list(rebuilt(lambda name: iter(rows(files, name)))), product)


@pytest.mark.parametrize("references", ReferencePolicy.values)
@pytest.mark.parametrize("normalisation", Normalisation.values)
@pytest.mark.parametrize(
    ("answer", "alternatives"),
    [
        ([], [[]]),
        (["a"], [[]]),
        ([], [["a"]]),
        (["the Old Town"], [["old town"], ["town"]]),
        (["a", "b", "b", ""], [["b", "c"], ["d"]]),
        (["The"], [[]]),
        (["x"], []),
    ],
)
def test_scores_an_answer_as_the_product_does(
    references: str, normalisation: str, answer: list[str], alternatives: list[list[str]]
) -> None:
    theirs = score_one(
        normalised(answer, normalisation),
        normalised_golds(alternatives, normalisation),
        references=references,
    )
    assert score(answer, alternatives, references, normalisation) == pytest.approx(theirs)


def test_has_no_figure_of_people_who_answered_nothing() -> None:
    batch = {"task": "t", "test_set": "s", "training_set": None, "episode": None}
    assert cell_figures([(1, batch)], {("t", "s"): {"x": "c"}}, {1: {}}, "new_items") == {"n": 1}


def test_stays_short() -> None:
    assert figures.__file__ is not None
    assert len(Path(figures.__file__).read_text().splitlines()) < 300

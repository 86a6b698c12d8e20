import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import make_dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from django.test import Client

from annotation.benchmarks.importing import import_benchmark
from annotation.jobs.queue import Cancelled, run_job, runs
from annotation.models import Batch, Benchmark, Exclusion, Gold, GoldVersion, JobState
from scoring.analysis import kept
from scoring.analysis.analysing import analyse
from scoring.analysis.kept import Analysis
from scoring.cells.rows import Row
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.comparison import comparing
from scoring.comparison.comparing import compute_table
from scoring.comparison.keeping import Store, is_stale, plain, shape, stop, was_given_up
from scoring.models import Comparison, Part, ReportedScore
from tests import make
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db
NO_CHOICE = Choices()
COMPUTES: dict[Part, Any] = {Part.TABLE: compute_table, Part.ANALYSIS: analyse}
HOMES: dict[Part, ModuleType] = {Part.TABLE: comparing, Part.ANALYSIS: kept}

parts = pytest.mark.parametrize("part", list(COMPUTES))


def quiet(done: int, total: int, message: str) -> None:
    pass


def scope_of(batch: Batch) -> Scope:
    return Scope(batch.study.benchmark, batch.study)


def fingerprint_of(batch: Batch) -> str:
    return inputs_fingerprint(scope_of(batch), NO_CHOICE)


def store(part: Part) -> Store[Any]:
    found: Store[Any] = HOMES[part].STORE
    return found


def kept_of(batch: Batch, part: Part, **choices: Any) -> Comparison:
    return store(part).find(scope_of(batch), Choices(**choices))


def ordered(batch: Batch, part: Part) -> Comparison:
    return store(part).enqueue(scope_of(batch), NO_CHOICE, fingerprint=fingerprint_of(batch))


def computed() -> Batch:
    """Of which each part was computed."""
    batch = measured.cell([3, 4, 6])
    for part in COMPUTES:
        run_job(ordered(batch, part).job.pk)
    return batch


def with_every_input() -> Batch:
    """Of which each part was computed with an exclusion, a run and a published figure."""
    batch = measured.cell([3, 4, 6])
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="in a hurry")
    measured.run(batch.task, system="GPT-2")
    measured.reported(batch.study.benchmark, batch.task.slug, system="GPT-1")
    for part in COMPUTES:
        run_job(ordered(batch, part).job.pk)
    return batch


batch_once = once_a_module(lambda: measured.cell([3, 4, 6]))
computed_once = once_a_module(computed)
with_every_input_once = once_a_module(with_every_input)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    """Of which nothing was computed."""
    return deepcopy(batch_once)


@pytest.mark.both_databases
@parts
def test_computes_an_order_once_and_keeps_it(batch: Batch, part: Part) -> None:
    first = ordered(batch, part)
    assert ordered(batch, part).job == first.job
    run_job(first.job.pk)
    kept = kept_of(batch, part)
    assert kept.job.state == JobState.DONE
    assert kept.result
    assert not is_stale(kept, fingerprint_of(batch))
    assert (kept.seed, kept.parameters["estimand"]) == (NO_CHOICE.seed, "new_items")


@parts
def test_gives_the_same_figures_when_run_twice(batch: Batch, part: Part) -> None:
    measured.run(batch.task, wrong=3)
    before = Comparison.objects.filter(part=part).count()
    kept = ordered(batch, part)
    first = plain(store(part).compute_enqueued(kept.pk, COMPUTES[part], progress=quiet))
    again = store(part).compute_enqueued(kept.pk, COMPUTES[part], progress=quiet)
    assert plain(again) == first
    assert Comparison.objects.filter(part=part).count() == before + 1


def _another_annotator(batch: Batch) -> None:
    make.worked_through(batch)


def _an_exclusion(batch: Batch) -> None:
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")


def _no_exclusion(batch: Batch) -> None:
    Exclusion.objects.all().delete()


def _a_run(batch: Batch) -> None:
    measured.run(batch.task)


def _a_deleted_run(batch: Batch) -> None:
    batch.task.runs.get().delete()


def _a_published_figure(batch: Batch) -> None:
    measured.reported(batch.study.benchmark, batch.task.slug)


def _a_published_figure_less(batch: Batch) -> None:
    ReportedScore.objects.all().delete()


def _another_number_of_shots(batch: Batch) -> None:
    ReportedScore.objects.update(shots=20)


def _a_correction(batch: Batch) -> None:
    version = GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    example = batch.test_set.items.first().example
    Gold.objects.create(example=example, version=version, alternatives=[[{"text": "good"}]])


def _another_policy(batch: Batch) -> None:
    batch.task.reference_policy = "set"
    with make.unlocked():
        batch.task.save(update_fields=["reference_policy"])


CHANGES = [
    _another_annotator,
    _an_exclusion,
    _no_exclusion,
    _a_run,
    _a_deleted_run,
    _a_published_figure,
    _a_published_figure_less,
    _another_number_of_shots,
    _a_correction,
    _another_policy,
]


@pytest.mark.parametrize("change", CHANGES)
def test_is_stale_once_an_input_changes(
    with_every_input_once: Batch, change: Callable[[Batch], None]
) -> None:
    batch = deepcopy(with_every_input_once)
    for part in COMPUTES:
        assert not is_stale(kept_of(batch, part), fingerprint_of(batch))
    change(batch)
    for part in COMPUTES:
        assert is_stale(kept_of(batch, part), fingerprint_of(batch))


def test_is_stale_once_the_test_set_is_imported_anew(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "SST-2"
    folder.mkdir()
    file = folder / "sst2_test.jsonl"
    row = '{{"context": "{}", "question": "Good?", "answer": ["yes"], "id": "1"}}\n'
    before = row.format("A fine film.")
    file.write_text(before)
    import_benchmark(tmp_path, name="anew")
    scope = Scope(Benchmark.objects.get(name="anew"))
    first = inputs_fingerprint(scope, NO_CHOICE)
    import_benchmark(tmp_path, name="anew")
    assert inputs_fingerprint(scope, NO_CHOICE) == first
    file.write_text(row.format("A bad film."))
    import_benchmark(tmp_path, name="anew")
    assert inputs_fingerprint(scope, NO_CHOICE) != first


def _another_scorer_version(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.comparison.keeping.SCORER_VERSION", 0)


def _another_figures_version(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HOMES[part], "STORE", replace(store(part), version=0))


def _a_field_less(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    _other_fields(part, monkeypatch, [field for field in KINDS[part] if field[0] != LATEST[part]])


def _a_field_more(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    _other_fields(part, monkeypatch, [*KINDS[part], ("long_gone", str)])


def _other_fields(
    part: Part, monkeypatch: pytest.MonkeyPatch, fields: list[tuple[str, object]]
) -> None:
    kept: Any = make_dataclass("Kept", fields)
    stored = make_dataclass("Stored", [("rows", tuple[kept, ...])])
    monkeypatch.setattr(HOMES[part], "STORE", replace(store(part), kind=stored))


# Of each part, the kind whose fields another version of the program had otherwise.
KINDS = {
    Part.TABLE: list(get_type_hints(Row).items()),
    Part.ANALYSIS: list(get_type_hints(Analysis).items()),
}
LATEST = {Part.TABLE: "median_item_s", Part.ANALYSIS: "excluded"}
OLDER = [_another_scorer_version, _another_figures_version, _a_field_less, _a_field_more]


def as_older(part: Part, result: dict[str, Any]) -> dict[str, Any]:
    """What a program kept that knew a field less and another one more."""
    older = json.loads(json.dumps(result))
    kinds = older["rows"] if part == Part.TABLE else [older]
    for kind in kinds:
        del kind[LATEST[part]]
        kind["long_gone"] = "x"
    return older


@parts
@pytest.mark.parametrize("older", OLDER)
def test_computes_anew_what_an_older_program_kept(
    part: Part,
    older: Callable[[Part, pytest.MonkeyPatch], None],
    computed_once: Batch,
    monkeypatch: pytest.MonkeyPatch,
    admin_client: Client,
) -> None:
    batch = deepcopy(computed_once)
    address = f"/studies/{batch.study.slug}/comparison/"
    page = address if part == Part.TABLE else f"{address}analysis/"
    present = kept_of(batch, part).result
    Comparison.objects.filter(part=part).delete()
    with monkeypatch.context() as patched:
        older(part, patched)
        scope = scope_of(batch)
        computed = COMPUTES[part](scope, NO_CHOICE, quiet)
        kept = store(part).keep(scope, NO_CHOICE, computed, fingerprint_of(batch))
        Comparison.objects.filter(pk=kept.pk).update(result=as_older(part, present))
        assert "long_gone" in str(kept_of(batch, part).result)
    assert kept_of(batch, part).result == {}
    assert admin_client.get(page).status_code == 200
    if part == Part.ANALYSIS:
        run_job(kept_of(batch, part).job.pk)
    assert kept_of(batch, part).result == present
    assert admin_client.get(page).status_code == 200
    # What the older program kept has gone.
    assert Comparison.objects.filter(part=part).count() == 1
    if part == Part.TABLE:
        document = json.loads(admin_client.get(f"{address}export/json/").content)
        assert every(row["median_item_s"] is not None for row in document["rows"])


@parts
def test_keeps_what_other_choices_computed(batch: Batch, part: Part) -> None:
    before = Comparison.objects.filter(part=part).count()
    for references in (None, "set", "any"):
        choices = Choices(references=references)
        result = COMPUTES[part](scope_of(batch), choices, quiet)
        store(part).keep(scope_of(batch), choices, result, fingerprint_of(batch))
    assert Comparison.objects.filter(part=part).count() == before + 3


@parts
def test_refuses_an_order_of_another_version(
    batch: Batch, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = ordered(batch, part)
    other = replace(store(part), version=99)
    monkeypatch.setattr(HOMES[part], "STORE", other)
    run_job(kept.job.pk)
    kept.job.refresh_from_db()
    assert kept.job.state == JobState.FAILED
    assert "open the page again" in kept.job.message


def test_follows_every_field_that_is_stored() -> None:
    told = str([(shape(store(part).kind), store(part).columns) for part in COMPUTES])
    for name in ("median_item_s", "gold_version", "split_var", "adjusted", "p_holm"):
        assert f"'{name}'" in told


@parts
def test_keeps_other_choices_apart(batch: Batch, part: Part) -> None:
    run_job(ordered(batch, part).job.pk)
    assert kept_of(batch, part, references="set").pk is None


@parts
def test_can_be_stopped(batch: Batch, part: Part) -> None:
    kept = ordered(batch, part)
    stop(kept)
    run_job(kept.job.pk)
    kept = kept_of(batch, part)
    assert kept.job.state == JobState.CANCELLED
    assert was_given_up(kept, fingerprint_of(batch))
    assert kept.result == {}


@parts
def test_leaves_an_old_result_when_stopped_halfway(batch: Batch, part: Part) -> None:
    run_job(ordered(batch, part).job.pk)
    before = kept_of(batch, part).result
    make.worked_through(batch)

    def cancel(done: int, total: int, message: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        store(part).compute_enqueued(kept_of(batch, part).pk, COMPUTES[part], progress=cancel)
    assert kept_of(batch, part).result == before


@parts
def test_is_known_to_the_workers(part: Part) -> None:
    with pytest.raises(ValueError, match="registered twice"):
        runs(store(part).job)(lambda job, progress: {})

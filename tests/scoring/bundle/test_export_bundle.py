"""What leaves with a bundle, and what does not."""

import csv
import io
import json
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.benchmarks.correcting import correct_gold
from annotation.models import Batch, Change, Example
from annotation.simulation.simulating import simulate_study
from annotation.studies.people import exclude
from annotation.work.commenting import add_comment
from scoring.bundle.packing import SUMS
from tests import make
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.bundle.packed import packed, rows, zipped

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    made = make.running_batch(via="prolific", kind="spans", training=2, tests=3, wanted=5)
    make.worked_through(made, who=make.annotator("prolific", "PERSON-7"))
    make.worked_through(made, wrong=3)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.mark.both_databases
def test_holds_answers_gold_and_figures(batch: Batch) -> None:
    files = packed(batch.study)
    assert len(rows(files, "judgements.jsonl")) == 10
    assert len(rows(files, "assignments.jsonl")) == 2
    assert len(rows(files, "gold.jsonl")) == 5
    assert {row["set"] for row in rows(files, "items.jsonl")} == {"train-2-1", "test"}
    assert [row["n"] for row in rows(files, "figures.jsonl")] == [2] * 4
    about = json.loads(files["study.json"])
    assert about["rules"]["shuffle_by"] == "text"
    assert (about["study"], about["people"]) == (batch.study.slug, 2)
    assert about["rules"]["margin"] == 0


def test_holds_the_checks_with_their_task(tmp_path: Path) -> None:
    batch = make.running_checked_batch(other="spans", zero_shot=True, wanted=3)
    make.worked_through(batch)
    make.worked_through(batch, wrong=4)
    files = packed(batch.study)
    roles = [row["role"] for row in rows(files, "judgements.jsonl")]
    assert (roles.count("check"), roles.count("test")) == (20, 4)
    assert [row["check_score"] for row in rows(files, "assignments.jsonl")] == [100, 60]
    checks = batch.check_set
    (about,) = rows(files, "batches.jsonl")
    assert (about["check_set"], about["check_task"]) == (checks.name, checks.task.slug)
    assert {row["task"] for row in rows(files, "gold.jsonl")} == {
        batch.task.slug,
        checks.task.slug,
    }
    call_command("verify_bundle", zipped(files, tmp_path / "bundle.zip"))


def test_names_nobody(batch: Batch) -> None:
    assignment = batch.assignments.first()
    assert assignment is not None
    make.entered_by(assignment, "SESSION-7")
    add_comment(assignment, text="I am Ann, write to me.", step=None, at=make.NOON)
    text = b"".join(packed(batch.study, texts=True, with_excluded=True).values()).decode()
    codes = batch.study.outcome_rules.values_list("code", flat=True)
    for secret in (
        *("PERSON-7", "SESSION-7", "I am Ann"),
        *(assignment.annotator.identity_hash, assignment.resume_token, batch.join_token, *codes),
    ):
        assert secret not in text


def test_tells_how_long_not_when(batch: Batch) -> None:
    files = packed(batch.study)
    text = b"".join(files.values()).decode()
    assert "2026-11-0" not in text
    shown = [row["submitted_ms"] for row in rows(files, "judgements.jsonl")[:5]]
    assert shown == [10_000, 20_000, 30_000, 40_000, 50_000]


def test_has_hashes_of_the_examples_and_texts_only_if_asked(batch: Batch) -> None:
    example = Example.objects.filter(identity="id:test 1", task=batch.task).get()
    files = packed(batch.study)
    text = b"".join(data for name, data in files.items() if name != "gold.jsonl").decode()
    assert example.content_hash in text
    assert example.question not in text
    assert make.DESCRIPTION not in text
    assert "texts.jsonl" not in files
    with_texts = packed(batch.study, texts=True)
    assert example.question in with_texts["texts.jsonl"].decode()
    assert make.DESCRIPTION in with_texts["tasks.jsonl"].decode()


def marks(files: dict[str, bytes]) -> list[tuple[bool, bool]]:
    return sorted((row["excluded"], row["simulated"]) for row in rows(files, "assignments.jsonl"))


def test_leaves_out_the_excluded_and_the_simulated_unless_asked(batch: Batch) -> None:
    make.channel("simulated")
    for simulated in simulate_study(batch.study, skill=0.8, seed=1, at=timezone.now()):
        exclude(simulated, reason="only a try")
    exclude(batch.assignments.of_people().latest("pk"), reason="asleep")
    assert marks(packed(batch.study)) == [(False, False)]
    everybody = packed(batch.study, simulated=True, with_excluded=True)
    assert marks(everybody) == [(False, False), (True, False), *[(True, True)] * batch.wanted]


def test_says_what_every_field_means(batch: Batch) -> None:
    files = packed(batch.study, texts=True)
    table = list(csv.DictReader(io.StringIO(files["dictionary.csv"].decode())))
    for name in (name for name in files if name.endswith(".jsonl")):
        told = {row["field"] for row in table if row["file"] == name and row["meaning"]}
        assert told == set(rows(files, name)[0]), name


def test_vouches_for_every_file(batch: Batch) -> None:
    files = packed(batch.study)
    lines = [line.split("  ") for line in files[SUMS].decode().splitlines()]
    listed = {name: digest for digest, name in lines}
    assert set(listed) == set(files) - {SUMS}
    assert every(sha256(files[name]).hexdigest() == digest for name, digest in listed.items())


def test_gives_the_same_bytes_for_the_same_data(batch: Batch, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        call_command("export_bundle", study=batch.study.slug, output=tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_scores_by_the_latest_gold(batch: Batch) -> None:
    before = rows(packed(batch.study), "figures.jsonl")[0]
    correct_gold(
        batch.task,
        {f"id:test {n}": [["Anna"]] for n in range(3)},
        author=None,
        reason="Only Anna counts.",
    )
    files = packed(batch.study)
    after = rows(files, "figures.jsonl")[0]
    assert (before["gold_version"], after["gold_version"]) == (1, 2)
    assert before["mean"] != after["mean"]
    assert "Only Anna." not in b"".join(files.values()).decode()


def test_leaves_a_line_in_the_log(batch: Batch, tmp_path: Path) -> None:
    call_command("export_bundle", study=batch.study.slug, output=tmp_path / "bundle.zip")
    change = Change.objects.get(study=batch.study, action="bundle_exported")
    with ZipFile(tmp_path / "bundle.zip") as archive:
        assert change.after == {"bundle": sha256(archive.read(SUMS)).hexdigest()}


def test_refuses_a_draft_and_leaves_no_file(tmp_path: Path) -> None:
    study = make.study(make.benchmark())
    with pytest.raises(CommandError, match="has not started"):
        call_command("export_bundle", study=study.slug, output=tmp_path / "bundle.zip")
    assert list(tmp_path.iterdir()) == []


def test_says_where_it_cannot_write(batch: Batch, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Cannot write"):
        call_command("export_bundle", study=batch.study.slug, output=tmp_path / "no" / "b.zip")

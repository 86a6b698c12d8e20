"""The whole path on real data: files in, people through the browser's forms, table out.

What the people should score is computed here from the files alone, by plain arithmetic.
"""

import json
import re
from html import unescape
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Benchmark, Study
from annotation.studies.batching import make_batches
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = pytest.mark.django_db

STEP = re.compile(r'name="step" value="(\d+)"')
OPTION = re.compile(r'value="(\d)" required[^>]*><span class="option-text">(\w+)</span>')
TEXT = re.compile(r'<div class="segment"[^>]*>(.*?)</div>', re.DOTALL)
# Of the test examples, every so manieth one is answered wrongly: one number a person.
SLIPS = {0: (3, 5, 7), 10: (4, 6, 9)}


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _work(link: str, wrong: set[str], gold: dict[str, str]) -> None:
    """One person with HTML forms alone; wrong on the texts named, right on all others."""
    client = Client()
    page = client.get(link, follow=True).content.decode()
    client.post("/work/consent/", {"agree": "1"})
    page = client.post("/work/begin/", follow=True).content.decode()
    while step := STEP.search(page):
        if "data-reveal-form" in page:
            page = client.post("/work/next/", {"step": step[1]}, follow=True).content.decode()
            continue
        text = unescape(TEXT.search(page)[1])
        options = {label: number for number, label in OPTION.findall(page)}
        right = gold[text]
        label = next(each for each in options if (each == right) != (text in wrong))
        form = {"step": step[1], "option": options[label]}
        page = client.post("/work/submit/", form, follow=True).content.decode()
    assert "CODE-COMPLETED" in page


def test_leads_from_the_files_to_the_table(shared: Path) -> None:
    call_command("import_benchmark", str(shared / "clues"), name="clues", stdout=StringIO())
    call_command(
        "import_runs",
        str(shared / "published" / "clues_results.json"),
        benchmark="clues",
        stdout=StringIO(),
        stderr=StringIO(),
    )
    study = make.study(Benchmark.objects.get(name="clues"), slug="main-path")
    sst2 = study.benchmark.tasks.get(slug="sst2")
    batches = make_batches(study, tasks=[sst2], shots=[0, 10], chains=[1], wanted=3)
    start_study(study, at=make.NOON)

    folder = shared / "clues" / "SST-2"
    tests = _rows(folder / "sst_test.jsonl")
    gold = {row["context"]: row["answer"][0] for row in tests}
    gold |= {r["context"]: r["answer"][0] for r in _rows(folder / "sst_train_10_1.jsonl")}
    expected: dict[int, list[float]] = {}
    for batch in batches:
        link = reverse("annotation:join_batch", args=[batch.join_token])
        for every in SLIPS[batch.shots]:
            wrong = {row["context"] for row in tests[::every]}
            _work(link, wrong, gold)
            right = sum(row["context"] not in wrong for row in tests)
            expected.setdefault(batch.shots, []).append(100 * right / len(tests))

    table = _exported(study)
    for shots, scores in expected.items():
        (cell,) = [r for r in table if r["kind"] == "human" and r["shots"] == shots]
        assert cell["mean"] == pytest.approx(fmean(scores))
        assert cell["sd"] == pytest.approx(stdev(scores))
        assert (cell["n"], cell["m"], cell["task"]) == (3, 210, "sst2")
        assert cell["ci_low"] < cell["mean"] < cell["ci_high"]
        people = [r["mean"] for r in table if r["kind"] == "annotator" and r["shots"] == shots]
        assert sorted(people) == pytest.approx(sorted(scores))
    published = [r for r in table if r["kind"] == "reported" and r["system"] == "GPT-3"]
    assert {(r["shots"], r["mean"]) for r in published if r["task"] == "sst2"} >= {(10, 85.9)}


def _exported(study: Study) -> list[dict]:
    out = StringIO()
    call_command("export_comparison", study=study.slug, format="json", stdout=out)
    return json.loads(out.getvalue())["rows"]

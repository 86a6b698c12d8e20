"""The whole path: files in, people through the browser's forms, predictions in, table out.

What people and systems should score is computed here from the files alone, by plain arithmetic.
"""

import json
import re
from dataclasses import dataclass
from html import unescape
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Benchmark, Study
from annotation.studies.lifecycle import start_study
from tests import make
from tests.batching import make_batches
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db

DEMO = settings.BASE_DIR / "annotation" / "simulation" / "demo" / "benchmark"
STEP = re.compile(r'name="step" value="(\d+)"')
OPTION = re.compile(
    r'value="(\d+)"[^>]*><span class="option-text"[^>]*>'
    r'(?:<span class="option-words">)?(.*?)</span>'
)
TEXT = re.compile(r'<div class="segment"[^>]*>(.*?)</div>', re.DOTALL)
QUESTION = re.compile(
    r'<(?:legend|p class="question[^"]*")[^>]*><span>(.*?)</span></(?:legend|p)>', re.DOTALL
)
BLANK = '<bdi class="blank">_____</bdi>'
MENTION = re.compile(r"</?(?:mark|label)[^>]*>")
VERDICT = re.compile(r"Score: (\d+)\u00a0%\.")
# Every third, fifth, … test example is answered wrongly: one number per person, or per split.
Slips = dict[int, tuple[int, ...]]
SLIPS: Slips = {0: (3, 5, 7), 10: (4, 6, 9)}
OF_TWO: Slips = {0: (3, 5), 10: (4, 6)}
SLIPS_OF_SPLITS = (2, 3, 4, 6, 8)
ALWAYS, NEVER = 1, 10**9

Row = dict


@dataclass(frozen=True)
class Files:
    """One task as its files have it."""

    kind: str
    tests: list[Row]
    training: list[Row]

    def row(self, page: str) -> Row:
        """The row that a page asks about."""
        page = page.replace(BLANK, "@placeholder")
        shown = (MENTION.sub("", form.search(page)[1]) for form in (TEXT, QUESTION))
        text, question = map(unescape, shown)
        [row] = [
            row
            for row in self.tests + self.training
            if (row["context"], row["question"]) == (text, question)
        ]
        return row

    def given(self, row: Row, every: int) -> list[str]:
        """Right, or a slip if it is the row's turn: its number is a multiple of `every`."""
        rows = self.tests if row in self.tests else self.training
        turn, rest = divmod(rows.index(row), every)
        right = sorted(references(row)[0])
        if rest:
            return right
        # Every second slip in the test is one piece of several, if there are several.
        is_partly_right = rows is self.tests and turn % 2 and len(right) > 1
        return right[:1] if is_partly_right else self._wrong(row)

    def _wrong(self, row: Row) -> list[str]:
        if self.kind == "spans":
            return [] if any(references(row)) else row["context"].split()[:1]
        return next([text] for text in self._options(row) if {text} not in references(row))

    def _options(self, row: Row) -> list[str]:
        if self.kind == "candidate":
            return [row["context"][e["start"] : e["end"] + 1] for e in row["entities"]]
        return sorted({label for row in self.tests for label in row["answer"]})

    def test_score(self, every: int) -> float:
        return 100 * fmean(s1(self.given(row, every), row) for row in self.tests)


def references(row: Row) -> list[set[str]]:
    """The right sets of strings: answers with a position are alternatives."""
    if all(isinstance(answer, dict) for answer in row["answer"]):
        return [{answer["text"]} for answer in row["answer"]] or [set()]
    return [set(filter(None, row["answer"]))]


def s1(given: list[str], row: Row) -> float:
    """Equation 1 of CLUES, against the alternative that suits the answer best."""
    own = set(given)
    return max(
        2 * len(own & right) / (len(own) + len(right)) if own and right else float(own == right)
        for right in references(row)
    )


def read(kind: str, folder: Path, stem: str) -> Files:
    def rows(name: str) -> list[Row]:
        text = (folder / f"{stem}_{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    return Files(kind, rows("test"), rows("train_10_1"))


def told_score(page: str) -> float:
    """All or nothing is said in words alone."""
    if "<strong>Right.</strong>" in page:
        return 100
    found = VERDICT.search(page)
    return float(found[1]) if found else 0


def work(batch: Batch, files: Files, *, every: int, in_training: int = NEVER) -> str:
    """One person with HTML forms alone; returns the last page."""
    client = Client()
    entrance = client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)
    assert batch.study.consent_text in entrance.content.decode()
    client.post("/work/consent/", {"agree": "1"})
    page = client.post("/work/begin/", follow=True).content.decode()
    score = None
    while step := STEP.search(page):
        if "data-reveal-form" in page:
            assert told_score(page) == pytest.approx(100 * score, abs=1)
            page = client.post("/work/next/", {"step": step[1]}, follow=True).content.decode()
            continue
        if "practice-done" in page:
            page = client.post("/work/begin/", {"step": step[1]}, follow=True).content.decode()
            continue
        row = files.row(page)
        given = files.given(row, in_training if row in files.training else every)
        score = s1(given, row)
        form = {"step": step[1], **form_of(page, given, files.kind)}
        page = client.post("/work/submit/", form, follow=True).content.decode()
        assert ("data-reveal-form" in page) == (row in files.training)
    return page


def form_of(page: str, given: list[str], kind: str) -> dict[str, str]:
    if kind == "spans":
        return {"typed": "\n".join(given)} if given else {"none": "1"}
    numbers = {unescape(text): number for number, text in OPTION.findall(page)}
    return {"option": numbers[given[0]]}


def people_work(study: Study, slug: str, files: Files, slips: Slips) -> None:
    """As many without training as with it; one more does too badly in training."""
    task = study.benchmark.tasks.get(slug=slug)
    zero_shot, ten = make_batches(
        study, tasks=[task], shots=[0, 10], chains=[1], wanted=len(slips[0])
    )
    start_study(study, at=make.NOON)
    page = work(ten, files, every=ALWAYS, in_training=ALWAYS)
    assert "CODE-SCREENED_OUT" in page
    for batch, shots in ((zero_shot, 0), (ten, 10)):
        for every in slips[shots]:
            assert "CODE-COMPLETED" in work(batch, files, every=every)
        late = Client().get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)
        assert "CODE-FULL" in late.content.decode()


def import_predictions(path: Path, benchmark: Benchmark, slug: str, files: Files) -> None:
    """A system after 10 shots, on the five splits."""
    system = {"system": "Tiny", "method": "FT", "task": slug, "shots": 10}
    lines = [
        {**system, "split": split, "id": row["id"], "prediction": files.given(row, every)}
        for split, every in enumerate(SLIPS_OF_SPLITS, start=1)
        for row in files.tests
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    # The one benchmark that there is goes without saying.
    several = Benchmark.objects.count() > 1
    quiet("import_runs", str(path), **({"benchmark": benchmark.name} if several else {}))


def check(table: list[Row], whole: list[Row], slug: str, files: Files, slips: Slips) -> None:
    """whole: with all runs of the system, on the whole test set."""
    rows = [row for row in table if row["task"] == slug]
    contexts = len({row["context"] for row in files.tests})
    for shots, each in slips.items():
        scores = [files.test_score(every) for every in each]
        [cell] = [r for r in rows if r["kind"] == "human" and r["shots"] == shots]
        assert cell["mean"] == pytest.approx(fmean(scores))
        assert cell["sd"] == pytest.approx(stdev(scores))
        assert (cell["n"], cell["m"]) == (len(each), contexts)
        assert cell["ci_low"] < cell["mean"] < cell["ci_high"]
        people = [r["mean"] for r in rows if r["kind"] == "annotator" and r["shots"] == shots]
        assert sorted(people) == pytest.approx(sorted(scores))
    scores = [files.test_score(every) for every in SLIPS_OF_SPLITS]
    [system] = [r for r in whole if r["kind"] == "run" and r["task"] == slug]
    assert (system["system"], system["shots"], system["n"]) == ("Tiny", 10, 5)
    assert system["mean"] == pytest.approx(fmean(scores))
    assert system["sd"] == pytest.approx(stdev(scores))
    assert system["coverage"] == 1


def imported(folder: Path, name: str) -> Benchmark:
    quiet("import_benchmark", str(folder), name=name)
    return Benchmark.objects.get(name=name)


demonstration = once_a_module(lambda: imported(DEMO, "demonstration"))


def whole_path(
    benchmark: Benchmark, slug: str, files: Files, predictions: Path, slips: Slips = SLIPS
) -> list[Row]:
    """Follows it and checks the table; returns the table."""
    study = make.study(benchmark, slug="main-path", min_training_score=50)
    people_work(study, slug, files, slips)
    import_predictions(predictions, benchmark, slug, files)
    table = exported(study)
    check(table, exported(study, runs="all"), slug, files, slips)
    return table


def quiet(command: str, *arguments: str, **options: str) -> None:
    call_command(command, *arguments, **options, stdout=StringIO(), stderr=StringIO())


def exported(study: Study, *, runs: str = "matched") -> list[Row]:
    out = StringIO()
    call_command("export_comparison", study=study.slug, format="json", runs=runs, stdout=out)
    return json.loads(out.getvalue())["rows"]


@pytest.mark.parametrize(
    ("kind", "folder"),
    [("choice", "Reviews"), ("spans", "Newsroom"), ("spans", "Reading"), ("candidate", "Cloze")],
)
def test_leads_from_the_files_to_the_table(
    demonstration: Benchmark, kind: str, folder: str, tmp_path: Path
) -> None:
    files = read(kind, DEMO / folder, folder.lower())
    whole_path(demonstration, folder.lower(), files, tmp_path / "predictions.jsonl")


def test_leads_from_the_files_of_clues_to_the_table(
    clues: Path, oracles: Path, tmp_path: Path
) -> None:
    files = read("choice", clues / "SST-2", "sst")
    Benchmark.objects.create(name="benchmark")
    quiet("import_runs", str(oracles / "clues_results.json"), benchmark="benchmark")
    predictions = tmp_path / "predictions.jsonl"
    table = whole_path(imported(clues, "benchmark"), "sst2", files, predictions, OF_TWO)
    assert len(files.tests) == 210
    published = [r for r in table if r["kind"] == "reported" and r["system"] == "GPT-3"]
    assert {(r["shots"], r["mean"]) for r in published if r["task"] == "sst2"} >= {(10, 85.9)}

"""A researcher with nothing but an account: from a benchmark's files to a paid study and its
bundle, by the pages alone, while forty people work at once.

What must come out is computed here, from the files and from what each annotator did.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils.text import slugify
from playwright.sync_api import Download, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Assignment, Judgement, PaymentLine, Place
from annotation.models.ready_made import READY_MADE_CHANNELS
from tests import make
from tests.annotation.benchmarks.clues_files import write_task, zipped
from tests.browser.crowd import Annotator, Row, TaskFiles
from tests.every import every
from tests.scoring.bundle.packed import make_bare_python, run_figures

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "from-nothing-to-bundle"
# What is paid at least: for so short a work the time alone comes to a few cents.
LEAST = {"completed": "1.00", "screened out": "0.30"}
# Of that, what the platform pays by itself.
BASE = {"for completed work": "0.60", "for those screened out": "0.10"}
SHOTS = (0, 2)
PEOPLE = 5
ITEMS = 4
PLACES = 40
SLUGS = {"SST-2": "sst2"}
TOWNS = ["Oslo", "Turku", "Riga", "Gdynia", "Kiel", "Malmö"]
WHO = ["Anna", "Boris", "Clara", "David", "Edith", "Felix"]


def _choice(n: int) -> Row:
    return {"context": f"Film {n} was {('dull', 'a joy')[n % 2]}.", "question": "good or bad?",
            "answer": [("bad", "good")[n % 2]]}  # fmt: skip


def _spans(n: int) -> Row:
    text = f"Ship {n} goes from {TOWNS[n]} to {TOWNS[n - 1]}."
    return {"context": text, "question": "Which towns are named?",
            "answer": [TOWNS[n], TOWNS[n - 1]]}  # fmt: skip


def _candidate(n: int) -> Row:
    text = f"{WHO[n]} wrote letter {n} to {WHO[n - 1]}."
    starts = [text.index(name) for name in (WHO[n], WHO[n - 1])]
    ends = zip(starts, (WHO[n], WHO[n - 1]), strict=True)
    entities = [{"start": start, "end": start + len(name) - 1} for start, name in ends]
    return {"context": text, "question": "@placeholder wrote it. Who is @placeholder?",
            "entities": entities, "answer": [{"text": WHO[n], "answer_start": 0}]}  # fmt: skip


def _text(n: int) -> Row:
    return {"context": f"Crossing {n} takes {n + 3} hours.", "question": "How many hours?",
            "answer": [str(n + 3)] if n else []}  # fmt: skip


KINDS = {
    "SST-2": ("choice", _choice),
    "Ports": ("spans", _spans),
    "Letters": ("candidate", _candidate),
    "Crossings": ("text", _text),
}


def benchmark_files(folder: Path) -> tuple[Path, list[TaskFiles]]:
    """Each task with four test items and one shot set of two, in a zip."""
    tasks = []
    for name, (kind, make_row) in KINDS.items():
        rows = [{"id": f"{name}-{n}", **make_row(n)} for n in range(ITEMS + 2)]
        test, training = rows[:ITEMS], rows[ITEMS:]
        label = "Say good or bad." if kind == "choice" else "Answer from the text."
        write_task(
            folder / "files" / name, test, {(2, 1): training},
            kind=kind, title=f"A task of kind {kind}", description=label,
        )  # fmt: skip
        tasks.append(TaskFiles(name, kind, training, test))
    file = folder / "harbours.zip"
    file.write_bytes(zipped(folder / "files").getvalue())
    return file, tasks


# The researcher


class Desk:
    """A researcher's browser."""

    def __init__(self, page: Page, origin: str, folder: Path) -> None:
        self.page, self.origin, self.folder = page, origin, folder

    def signs_in(self) -> None:
        self.page.goto(self.origin)
        self.follows("Researchers sign in here")
        self.page.get_by_label("Username").fill("ada")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.presses("Log in")

    def follows(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def presses(self, name: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=name).first.click()

    def turns_to(self, tab: str) -> None:
        tabs = self.page.get_by_role("navigation", name="Pages of the study")
        tabs.get_by_role("link", name=tab, exact=True).click()

    def shows(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator("body")).to_contain_text(text)

    def figure(self, term: str) -> str:
        """What stands beneath a heading in a list of figures."""
        row = self.page.locator("dl > div").filter(has=self.page.locator(f"dt:text-is('{term}')"))
        return row.locator("dd").inner_text().replace("\N{NO-BREAK SPACE}", " ")

    def fetches(self, name: str, *, by: Literal["link", "button"] = "link") -> Path:
        with self.page.expect_download() as fetched:
            self.page.get_by_role(by, name=name, exact=True).first.click()
        download: Download = fetched.value
        path = self.folder / download.suggested_filename
        download.save_as(path)
        return path


@pytest.fixture
def desk(page: Page, live_server: LiveServer, tmp_path: Path) -> Desk:
    User.objects.create_superuser("ada", password=PASSWORD)
    # What migrations put there: an earlier test may have emptied the database.
    for fields in READY_MADE_CHANNELS:
        make.channel(fields["slug"])
    page.set_default_timeout(120_000)
    return Desk(page, live_server.url, tmp_path)


def imports(desk: Desk, file: Path) -> None:
    desk.follows("Import a benchmark")
    desk.page.get_by_label("Name").fill("harbours")
    desk.page.get_by_label("File").set_input_files(file)
    desk.presses("Look at it")
    desk.presses("Store it")
    desk.follows("To the benchmark")
    expect(desk.page.get_by_text("SST-2").first).to_be_visible()


def opens_everything(desk: Desk) -> None:
    desk.page.locator("main summary").evaluate_all("all => all.forEach((one) => one.click())")


def sets_up(desk: Desk) -> None:
    """A study with a rule and a fee, and every batch that its benchmark allows."""
    page = desk.page
    page.goto(desk.origin)
    desk.follows("Make a study")
    opens_everything(desk)
    page.get_by_label("Title").fill("A pilot in the harbour")
    page.get_by_label("Benchmark").select_option("harbours")
    page.get_by_label("Channel").select_option(label="Prolific")
    page.get_by_label("Contact").fill("ada@example.org")
    page.get_by_label("Consent text").fill("We store your answers.")
    page.get_by_label("Hourly rate").fill("12")
    page.get_by_label("Floor, in percent").fill("50")
    page.get_by_label("Why a weak screening stays").fill("Two items can screen no better.")
    page.get_by_label("People an hour from one address").fill("0")
    desk.presses("Make the draft")
    desk.shows("The study is a draft.")
    opens_everything(desk)
    for outcome, amount in LEAST.items():
        row = page.locator("#pay tbody tr", has_text=outcome)
        row.locator("[name$=minimum]").fill(amount)
    desk.presses("Save")
    desk.shows("The settings were saved.")
    page.goto(desk.origin)
    desk.follows("Add batches")
    for task in KINDS:
        page.get_by_label(f"{task}, 2 shots").check()
    expect(page.locator("#builder-result dd").first).to_have_text("40")
    desk.presses("Add the batches")
    desk.shows("8 batches were added.")


def looks_before_it_starts(desk: Desk) -> None:
    """Through an annotator's pages, then with simulated ones: neither leaves a trace."""
    page = desk.page
    desk.follows("Preview")
    expect(page.get_by_text("Nothing you do here is stored.")).to_be_visible()
    desk.presses("Start")
    expect(page.locator("[data-panel=answer]")).to_be_visible()
    desk.follows("Back to the batches")
    desk.turns_to("Rehearsal")
    desk.presses("Rehearse the study")
    expect(desk.page.get_by_text("every figure here is of simulated")).to_be_visible(
        timeout=180_000
    )
    assert desk.figure("Places finished") == "40 of 40"
    desk.presses("Throw this rehearsal away")
    assert not Judgement.objects.exists()


def starts(desk: Desk) -> tuple[str, dict[str, str]]:
    """The link that people join by, and the code of each outcome."""
    desk.turns_to("Start")
    desk.shows("what Prolific itself pays")
    desk.turns_to("Payments")
    for what in ("for completed work", "for those screened out"):
        desk.page.get_by_label(what).fill("0")
    desk.presses("Store")
    desk.turns_to("Start")
    link = desk.page.get_by_label("Link to join").input_value()
    rows = desk.page.get_by_role("region", name="Codes").locator("tbody tr").all()
    codes = {
        row.locator("th").inner_text().split("\n")[0]: row.locator("code").inner_text()
        for row in rows
    }
    desk.presses("Start the study")
    desk.shows("The study is open.")
    return link, codes


# The annotators


def annotators(link: str, tasks: Sequence[TaskFiles]) -> Iterator[Annotator]:
    """One after another, each by a link of Prolific's; no two get the same items wrong."""
    for number in range(1000):
        own = make.prolific_id(number)
        address = re.sub(r"\{\{%PROLIFIC_PID%\}\}|\{\{%SESSION_ID%\}\}", own, link)
        slips = frozenset(item for item in range(ITEMS) if (number >> item) & 1)
        yield Annotator(address.replace("{{%STUDY_ID%}}", "study"), tasks, slips)


def all_at_once(crowd: Sequence[Annotator], act: str) -> None:
    with ThreadPoolExecutor(len(crowd)) as pool:
        list(pool.map(lambda annotator: getattr(annotator, act)(), crowd))


def misbehave(crowd: Sequence[Annotator]) -> None:
    """Three fail the practice, and one of those without practice leaves after an answer."""
    practising = [one for one in crowd if one.is_practising]
    for annotator in practising[:3]:
        annotator.fails_practice = True
    next(one for one in crowd if one not in practising).leaves_after = 1


def score(task: TaskFiles, row: Row, given: Sequence[str]) -> float:
    """Equation 1 of CLUES."""
    own, right = set(given), set(task.right(row))
    return 2 * len(own & right) / (len(own) + len(right)) if own and right else float(own == right)


def mean_of(annotator: Annotator) -> float:
    task = annotator.task
    assert task is not None
    return 100 * fmean(score(task, task.test[n], given) for n, given in annotator.given.items())


Cells = dict[tuple[str, int], list[float]]


def cells_of(crowd: Sequence[Annotator]) -> Cells:
    """The scores of those who finished, by task and shots, by their own account."""
    cells: Cells = {}
    for annotator in crowd:
        assert annotator.task is not None
        cell = (slugify(SLUGS.get(annotator.task.name, annotator.task.name)), annotator.practised)
        cells.setdefault(cell, []).append(mean_of(annotator))
    return cells


def play(desk: Desk, link: str, codes: dict[str, str], tasks: Sequence[TaskFiles]) -> Cells:
    """Forty come at once; four of them end early, and four who come later take their places."""
    arriving = annotators(link, tasks)
    crowd = [next(arriving) for _ in range(PLACES)]
    all_at_once(crowd, "comes_in")
    assert every(one.is_at_work for one in crowd)
    assert next(arriving).comes_in().code == codes["full"]
    desk.page.reload()
    assert desk.figure("At work") == "40"
    misbehave(crowd)
    all_at_once(crowd, "works")
    later = [next(arriving).comes_in() for _ in range(4)]
    all_at_once(later, "works")
    everybody = [*crowd, *later]
    ends = Counter(one.code for one in everybody)
    assert ends == {
        codes["completed"]: PLACES, codes["screened out"]: 3, codes["withdrawn"]: 1
    }  # fmt: skip
    sent = sum(one.practised + len(one.given) for one in everybody)
    assert Judgement.objects.count() == sent
    return cells_of([one for one in everybody if one.code == codes["completed"]])


# What must be true


def sees_it_filled(desk: Desk) -> None:
    """Without reloading: the page asks for itself."""
    grid = desk.page.get_by_role("region", name="Places by task and shots")
    desk.shows("40 of 40 places finished, 40 taken")
    assert grid.locator("tbody th").all_inner_texts() == sorted(KINDS)
    told = Counter(grid.locator("tbody td .r-small").all_inner_texts())
    assert sum(text.startswith("5 of 5 finished, 0 at work") for text in told.elements()) == 8
    assert sum(told[text] for text in told if "lost" in text) == 1
    kept = Place.objects.filter(kept=True).values_list("batch", flat=True)
    assert set(Counter(kept).values()) == {PEOPLE}
    assert Assignment.objects.count() == PLACES + 4


def amounts(file: Path, column: str) -> Decimal:
    with file.open(encoding="utf-8", newline="") as lines:
        return sum((Decimal(row[column]) for row in csv.DictReader(lines)), Decimal(0))


def in_ledger(purpose: str) -> Decimal:
    lines = PaymentLine.objects.filter(purpose=purpose).values_list("amount", flat=True)
    return sum(lines, Decimal(0))


def pays(desk: Desk) -> None:
    """Approves, looks, fetches the file, writes down that it was sent; the sums agree."""
    page = desk.page
    desk.turns_to("Payments")
    for label, amount in BASE.items():
        page.get_by_label(label).fill(amount)
    desk.presses("Store")
    due = amounts(desk.fetches("What everybody is due (CSV)"), "due")
    assert due >= PLACES * Decimal(LEAST["completed"]) + 3 * Decimal(LEAST["screened out"])
    desk.presses(re.compile(r"Approve all \d+ that wait"))
    assert in_ledger("due") == due
    assert desk.figure("Due") == f"{due} USD"
    desk.follows("Send the open bonuses…")
    desk.shows("Nothing has been sent or written down yet.")
    bonuses = desk.fetches("File of bonuses").read_text().splitlines()
    sent = sum((Decimal(line.split(",")[1]) for line in bonuses), Decimal(0))
    assert not in_ledger("bonus")
    desk.presses("Mark these as sent")
    assert in_ledger("bonus") == sent
    assert desk.figure("Bonuses sent") == f"{sent} USD"
    after = desk.fetches("What everybody is due (CSV)")
    assert amounts(after, "open") == 0
    assert amounts(after, "base") + sent == amounts(after, "due")


def compares(desk: Desk, cells: Cells) -> dict[tuple[str, int], Row]:
    """The rows of people, which are what the annotators' own accounts come to."""
    page = desk.page
    desk.turns_to("Comparison")
    page.goto(f"{page.url}?view=wide")
    shown = page.locator("#content").inner_text()
    page.get_by_text("Export", exact=True).click()
    page.locator(".exports").get_by_text("More", exact=True).click()
    file = desk.fetches("JSON: every row")
    rows = [row for row in json.loads(file.read_text())["rows"] if row["kind"] == "human"]
    for row in rows:
        scores = cells[row["task"], row["shots"]]
        assert row["n"] == len(scores) == PEOPLE
        assert row["mean"] == pytest.approx(fmean(scores), abs=1e-9)
        assert row["sd"] == pytest.approx(stdev(scores), abs=1e-9)
        assert f"{row['mean']:.1f}" in shown
    assert len(rows) == len(cells) == len(KINDS) * len(SHOTS)
    assert every(name in shown for name in KINDS)
    return {(row["task"], row["shots"]): row for row in rows}


def bundles(desk: Desk, rows: dict[tuple[str, int], Row], folder: Path) -> None:
    """What leaves says the same, to the product and to a script that knows nothing of it."""
    desk.turns_to("Data")
    file = desk.fetches("Make the bundle", by="button")
    call_command("verify_bundle", str(file))
    unpacked = folder / "unpacked"
    with ZipFile(file) as archive:
        archive.extractall(unpacked)
    done = run_figures(make_bare_python(folder / "bare"), unpacked)
    assert done.returncode == 0, done.stderr
    lines = (unpacked / "figures.jsonl").read_text().splitlines()
    figures = [row for row in map(json.loads, lines) if row["asked"] == "new_items"]
    same = [row for row in figures if row["references"] == "any"]
    assert len(same) == len(rows)
    for row in same:
        on_page = rows[row["task"], row["shots"]]
        for name in ("mean", "sd", "ci_low", "ci_high"):
            assert row[name] == pytest.approx(on_page[name], abs=1e-9)


def test_leads_from_nothing_to_the_bundle(desk: Desk, tmp_path: Path) -> None:
    file, tasks = benchmark_files(tmp_path)
    desk.signs_in()
    imports(desk, file)
    sets_up(desk)
    looks_before_it_starts(desk)
    link, codes = starts(desk)
    cells = play(desk, link, codes, tasks)
    sees_it_filled(desk)
    pays(desk)
    bundles(desk, compares(desk, cells), tmp_path)

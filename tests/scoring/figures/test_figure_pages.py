"""Every figure of a comparison, drawn from what a study really holds."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from annotation.models import Batch
from scoring.models import Comparison, Part
from tests import make
from tests.config.environment import untouched
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

PLACES = ("shots", "analysis/differences", "analysis/curves", "items/figure")


def a_study(people: Sequence[int], *, tests: int, systems: int) -> Batch:
    """So many wrong answers of each person, three of them in training."""
    batch = make.running_batch(wanted=len(people) + 1, tests=tests, training=3)
    for wrong in people:
        make.worked_through(batch, wrong=wrong)
    for number in range(systems):
        measured.run(batch.task, wrong=number % (tests + 1), system=f"System {number}")
    measured.analysed(batch.study)
    return batch


@pytest.mark.parametrize(
    ("people", "tests", "systems"),
    [
        ([], 3, 1),
        ([4], 3, 1),
        ([4, 3, 4, 3, 4], 1, 1),
        ([0] * 5, 30, 1),
        ([33] * 5, 30, 0),
        ([3, 4], 3, 30),
    ],
    ids=["nobody", "one person", "one item", "all right", "all wrong", "thirty systems"],
)
def test_draws_every_figure_of_every_extreme(
    admin_client: Client, people: list[int], tests: int, systems: int
) -> None:
    study = a_study(people, tests=tests, systems=systems).study
    page = f"/studies/{study.slug}/comparison"
    for place in PLACES:  # a file of SVG is drawn as the fragment is
        answer = admin_client.get(f"{page}/{place}/fragment/")
        assert answer.status_code == 200, place


@pytest.mark.parametrize("systems", [0, 30])
def test_draws_every_figure_as_a_picture(admin_client: Client, systems: int) -> None:
    """By the lines that draw the SVG above; nothing and very much is what a canvas may refuse."""
    study = a_study([3, 4] if systems else [], tests=3, systems=systems).study
    for place in PLACES:
        answer = admin_client.get(f"/studies/{study.slug}/comparison/{place}/png/")
        assert answer.status_code == 200, place
        assert answer.content.startswith(b"\x89PNG"), place


def test_draws_for_one_column_of_a_paper(admin_client: Client) -> None:
    study = a_study([3, 4, 5], tests=6, systems=2).study
    for place in PLACES:
        page = f"/studies/{study.slug}/comparison/{place}"
        answer = admin_client.get(f"{page}/svg/?size=column")
        width = float(re.search(r'width="([\d.]+)pt"', answer.content.decode())[1])
        assert width == pytest.approx(3.35 * 72, abs=1), place
        assert "-column.svg" in answer["Content-Disposition"]
        assert admin_client.get(f"{page}/svg/?size=giant").status_code == 404


def test_draws_the_tasks_in_the_order_of_the_tables(admin_client: Client) -> None:
    batch = a_study([3, 4, 5], tests=6, systems=1)
    other = make.task(batch.study.benchmark, slug="aaa", training=3, tests=6)
    measured.reported(batch.study.benchmark, batch.task.slug)
    kept = Comparison.objects.get(part=Part.ANALYSIS)
    [test] = kept.result["tests"]
    kept.result["tests"] = [{**test, "task": other.slug}, test]
    kept.save(update_fields=["result"])
    page = f"/studies/{batch.study.slug}/comparison/analysis/differences"
    text = admin_client.get(f"{page}/svg/").content.decode()
    assert text.index(f"{batch.task.slug}, 3 shots") < text.index("aaa, 3 shots")


def test_matplotlib_is_loaded_by_who_draws_alone(tmp_path: Path) -> None:
    """Every command and every process would wait for it, and keep it in memory."""
    script = "import django, sys; django.setup(); import config.urls; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    environment = untouched(DJANGO_SETTINGS_MODULE="config.settings", DATA_DIR=str(tmp_path))
    loaded = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "scoring.figures.views" in loaded
    assert "matplotlib" not in loaded

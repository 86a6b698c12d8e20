"""SmolLM2, served by llama.cpp's own server, is really asked: killed in the middle, taken up, and
beside others in the comparison."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from scoring.models import Prediction, Reply, Run
from scoring.runs.demonstration import load_demonstration_runs
from scoring.runs.scores import scores_of_run
from tests.config.environment import untouched
from tests.config.test_killed_web_workers import url_of_this_database
from tests.heavy.commands import import_demo
from tools.real_models import SMOLLM2, served

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.models]

ITEMS, BEFORE_THE_KILL = 24, 5
PATIENCE_S = 600


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with served(port) as found:
        yield found


@pytest.mark.parametrize("way", ["text", "likelihood"])
def test_is_asked_killed_taken_up_and_compared(
    way: str, address: str, tmp_path: Path, admin_client: Client
) -> None:
    load_demonstration_runs(import_demo())
    sets = ["--benchmark", "demo", "--task", "reviews", "--shots", "10", "--splits", "1"]
    how = ["--base-url", address, "--completions", "--connections", "1", "--max-tokens", "8"]
    asked = ["run_model", SMOLLM2, "--system", "Anew", *sets, *how, "--answers", way]
    command = [sys.executable, "manage.py", *asked]
    environment = untouched(DATA_DIR=str(tmp_path), DATABASE_URL=url_of_this_database())
    begun = partial(subprocess.Popen, command, cwd=settings.BASE_DIR, env=environment, text=True)
    with begun(stdout=DEVNULL, stderr=DEVNULL) as asking:
        wait_for_answers(asking)
        asking.kill()
    run = Run.objects.exclude(source_format="demonstration").get()
    assert not run.is_complete
    before = set(Reply.objects.values_list("pk", flat=True))
    assert BEFORE_THE_KILL <= len(before) < ITEMS
    with begun(stdout=DEVNULL, stderr=PIPE) as asking:
        _, said = asking.communicate()
    assert asking.returncode == 0, said
    run.refresh_from_db()
    assert run.is_complete
    assert run.coverage == 1
    assert before <= set(Reply.objects.values_list("pk", flat=True)), "asked again"
    assert Reply.objects.filter(prediction__run=run).count() == ITEMS
    assert run.report["asked"]["versions"] == [SMOLLM2]
    row = row_of(run, tmp_path)
    assert (row["method"], row["n"], row["coverage"]) == ("ICL", 1, 1)
    assert row["mean"] == pytest.approx(scores_of_run(run)[0].mean)
    page = admin_client.get(f"/admin/scoring/run/{run.pk}/change/").content.decode()
    most = run.report["most_frequent"]["count"]
    assert f"{most} of {ITEMS} answers are one and the same" in page


def wait_for_answers(asking: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + PATIENCE_S
    stored = Prediction.objects.exclude(run__source_format="demonstration")
    while stored.count() < BEFORE_THE_KILL:
        assert asking.poll() is None, "it ended by itself"
        assert time.monotonic() < end, "it does not answer"
        time.sleep(0.05)


def row_of(run: Run, folder: Path) -> dict:
    """In the comparison, as it is exported."""
    written = folder / "comparison.json"
    given = {"benchmark": "demo", "format": "json", "output": written}
    call_command("export_comparison", **given, stdout=StringIO(), stderr=StringIO())
    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    [row] = [
        row
        for row in rows
        if (row["kind"], row["system"], row["task"]) == ("run", run.system, run.task.slug)
        and row["shots"] == run.shots
    ]
    return row

"""The script that the documents show does what they say, against a running server."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.access.tokens import make_token
from annotation.models import Batch, Study, Task, clock
from annotation.studies.checks import NO_DESCRIPTION
from annotation.webhooks.sending import signature
from tests import make
from tests.documentation.blocks import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

MOST_LINES = 60
PAGE = ROOT / "docs" / "how-to" / "automation.md"


def scripts() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_checks_the_signature_of_a_webhook() -> None:
    known: dict[str, Any] = {}
    exec(scripts()[1], known)
    signed = signature("s3cret", "17", b"{}")
    assert known["is_genuine"]("s3cret", "17", b"{}", signed)
    assert not known["is_genuine"]("s3cret", "18", b"{}", signed)


def test_makes_a_study_and_collects_what_came_out(live_server: LiveServer, tmp_path: Path) -> None:
    task = make.task(make.benchmark("my-benchmark"), slug="reviews", training=10, tests=4)
    make.channel()
    user = make.member(task.benchmark)
    token = make_token(user, name="x", may_write=True, may_pay=False, days=1, at=clock.now())
    script = scripts()[0]
    assert len(script.splitlines()) <= MOST_LINES

    def run(step: str, refusal: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-c", script, step],
            cwd=tmp_path,
            env={**os.environ, "BASELINER": live_server.url, "TOKEN": token},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (int(bool(refusal)), refusal), done.stderr
        return done.stdout

    Task.objects.update(description="")
    run("start", refusal=NO_DESCRIPTION.format("reviews") + "\n")
    Study.objects.get().delete()
    Task.objects.update(description="Read.")
    run("start")
    study = Study.objects.get()
    assert (study.slug, study.state, study.hourly_rate) == ("nurses", "open", 15)
    make.worked_through(Batch.objects.get())
    assert run("collect") == "1 of 5 places finished\n"
    assert json.loads((tmp_path / "comparison.json").read_text())["rows"]
    lines = (tmp_path / "judgements.csv").read_text().splitlines()
    assert len(lines) == 1 + 10 + 4
    assert (tmp_path / "assignments.csv").read_text().count("\n") == 2

import json

import pytest
from django.core.management import CommandError, call_command

from tests import make

pytestmark = pytest.mark.django_db


def test_prints_the_judgements_alone(capsys: pytest.CaptureFixture[str]) -> None:
    batch = make.running_batch(training=1, tests=2)
    make.worked_through(batch)
    call_command("export_judgements", "--study", batch.study.slug, "--format", "jsonl")
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert printed.err == ""


def test_prints_csv(capsys: pytest.CaptureFixture[str]) -> None:
    batch = make.running_batch(training=1, tests=2)
    make.worked_through(batch)
    call_command("export_judgements", "--study", batch.study.slug, "--format", "csv")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("study,benchmark,task,batch,")
    assert len(lines) == 4


def test_names_the_studies_there_are() -> None:
    study = make.running_batch().study
    with pytest.raises(CommandError, match=f"no study 'nope'.*{study.slug}"):
        call_command("export_judgements", "--study", "nope")

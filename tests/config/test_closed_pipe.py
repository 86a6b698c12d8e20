"""A command whose reader has seen enough ends, and complains of nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.config.environment import untouched


@pytest.mark.parametrize("reads", [0, 1], ids=["nothing", "one line"])
def test_ends_quietly_when_nobody_reads_on(tmp_path: Path, reads: int) -> None:
    command = [sys.executable, "manage.py", "diffsettings", "--all"]
    process = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env=untouched(DATA_DIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    for _ in range(reads):
        process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() in (0, 1)  # by how much was written before

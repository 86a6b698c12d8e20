"""The benchmark of annotators beside long work, small: nothing fails, and nothing is lost. How
often a busy database asks for an answer once more depends on the machine, and is not judged here.
"""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.migrated_once import begin_with_copy


def test_refuses_nobody_beside_long_work(tmp_path: Path) -> None:
    database = tmp_path / "bench.sqlite3"
    begin_with_copy(database)
    command = [sys.executable, "-m", "tools.benchmarks.bench_annotators_first"]
    command += ["--annotators", "4", "--idle", "1", "--examples", "300", "--simulated", "2"]
    command += ["--items", "30", "--workers", "2"]
    command += ["--database", f"sqlite:///{database}"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all done" in done.stdout
    assert done.stdout.count("errors 0") == 3
    assert "lost 0" in done.stdout

"""The broker is away: what was ordered is stored once, and waits."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from annotation.jobs.queue import WAITS
from tests.annotation.benchmarks.clues_files import write_task, zipped
from tests.config.environment import untouched
from tests.migrated_once import begin_with_copy

UPLOAD = """
import json, sys
import django
django.setup()
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from annotation.models import Job, Upload
call_command("migrate", verbosity=0)
client = Client(SERVER_NAME="localhost")
client.force_login(User.objects.create_superuser("ada"))
file = SimpleUploadedFile("mine.zip", open(sys.argv[1], "rb").read())
response = client.post("/admin/annotation/benchmark/import/", {"name": "mine", "file": file})
page = client.get(response["Location"]).content.decode()
jobs = list(Job.objects.values_list("state", "message"))
print(json.dumps([response.status_code, jobs, Upload.objects.count(), page]))
"""


@pytest.mark.parametrize("listens", [False, True], ids=["refuses", "says nothing"])
def test_keeps_an_upload_and_says_that_it_waits(tmp_path: Path, listens: bool) -> None:
    write_task(tmp_path / "files" / "Reviews", description="Good or bad?")
    archive, data = tmp_path / "mine.zip", tmp_path / "data"
    data.mkdir()
    begin_with_copy(data / "baseliner.sqlite3")
    archive.write_bytes(zipped(tmp_path / "files").getvalue())
    with socket.socket() as broker:
        broker.bind(("127.0.0.1", 0))
        if listens:
            broker.listen()
        done = subprocess.run(
            [sys.executable, "-c", UPLOAD, str(archive)],
            cwd=settings.BASE_DIR,
            env=untouched(
                DATA_DIR=str(data),
                DJANGO_SETTINGS_MODULE="config.settings",
                CELERY_BROKER_URL=f"redis://127.0.0.1:{broker.getsockname()[1]}/0",
            ),
            capture_output=True,
            check=False,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    status, jobs, uploads, page = json.loads(done.stdout)
    assert status == 302
    assert jobs == [["queued", WAITS]]
    assert uploads == 1
    assert page.count(WAITS) == 1

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Batch
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    made = measured.cell([3, 4])
    measured.run(made.task)
    return made


def packed(client: Client, address: str) -> ZipFile:
    response: Any = client.get(address)
    assert response.status_code == 200
    return ZipFile(BytesIO(response.content))


def test_packs_two_files_for_everybody_who_answered(admin_client: Client, batch: Batch) -> None:
    archive = packed(admin_client, f"/studies/{batch.study.slug}/every-eval-ever/")
    names = archive.namelist()
    assert len(names) == 2 * 3
    [log] = [name for name in names if "BERT-Base" in name and not name.endswith(".jsonl")]
    samples = json.loads(archive.read(log))["detailed_evaluation_results"]["file_path"]
    assert samples in names


def test_packs_a_benchmark_and_follows_the_readers_choices(
    admin_client: Client, batch: Batch
) -> None:
    address = f"/benchmarks/{batch.study.benchmark.name}/every-eval-ever/?references=set"
    archive = packed(admin_client, address)
    samples = next(name for name in archive.namelist() if name.endswith(".jsonl"))
    first = archive.read(samples).decode().splitlines()[0]
    assert json.loads(first)["metadata"]["references"] == "set"


def test_gives_no_gold_to_strangers(client: Client, batch: Batch) -> None:
    address = f"/studies/{batch.study.slug}/every-eval-ever/"
    assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address).status_code == 404

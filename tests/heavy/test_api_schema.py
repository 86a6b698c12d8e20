"""The API does what its schema says, whatever is sent to it and by whom.

Schemathesis makes requests from the schema, right and wrong ones, and compares each answer with it.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.access.tokens import make_token
from annotation.models import Benchmark, Job, Webhook, clock
from annotation.studies.people import exclude
from scoring.models import Run
from tests import make, tools
from tests.scoring.comparison import measured
from tests.scoring.runs.runs_from import toy_benchmark

pytestmark = [pytest.mark.models, pytest.mark.django_db(transaction=True)]

ROLES = ("owner", "editor", "viewer", "stranger")
SECONDS = 60


@pytest.fixture
def schemathesis() -> str:
    program = tools.find_schemathesis()
    assert program, "There is no Schemathesis: run `make test-all`, which brings it."
    return program


@pytest.fixture
def benchmark() -> Benchmark:
    return toy_benchmark()


def token_of(role: str, benchmark: Benchmark) -> str:
    """Of somebody who has runs to read, to upload to and to abandon."""
    user = make.researcher() if role == "stranger" else make.member(benchmark, role)
    fill_with_runs(user, benchmark)
    return Token.objects.create(user=user).key


def fill_with_runs(user: User, benchmark: Benchmark) -> None:
    for task in benchmark.tasks.all():
        measured.run(task, system=f"System of {user}", owner=user)
        measured.run(task, system=f"System of {user}", owner=user, complete=False, split=2)


@pytest.mark.parametrize("role", ROLES)
def test_answers_as_the_schema_says(
    role: str,
    schemathesis: str,
    benchmark: Benchmark,
    live_server: LiveServer,
    tmp_path: Path,
    settings: Settings,
) -> None:
    # It tries wrong tokens too, after which the address would be refused the right one.
    settings.THROTTLES = {**settings.THROTTLES, "failed_sign_ins_per_address": 0}
    token = token_of(role, benchmark)
    before = Run.objects.count()
    done = asked(schemathesis, live_server.url, token, tmp_path, part="^/api/runs")
    assert done.returncode == 0, done.stdout
    assert Run.objects.count() != before, "nothing reached the database"


# All but runs, which have tokens of their own above.
PARTS = {
    "lists": r"^/api/(studies|benchmarks)/$",
    "study": r"^/api/studies/\{slug\}/((start|pause|resume|close|rehearse|.act.)/)?$",
    "people": r"^/api/studies/\{slug\}/(progress|people|payments|.table.)",
    "figures": r"^/api/studies/\{slug\}/(comparison|report|preregistration|bundle|webhooks)",
    "benchmark": r"^/api/(benchmarks/\{|jobs/)",
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_answers_about_studies_as_the_schema_says(
    role: str,
    part: str,
    schemathesis: str,
    live_server: LiveServer,
    tmp_path: Path,
    settings: Settings,
) -> None:
    """Of a study in which somebody has worked, somebody is at work, and somebody is excluded."""
    limits = dict.fromkeys(("failed_sign_ins_per_address", "requests_per_token"), 0)
    settings.THROTTLES = {**settings.THROTTLES, **limits}
    batch = make.running_batch(wanted=4)
    study, (who, *_others) = batch.study, [make.worked_through(batch) for _ in range(2)]
    make.at_work(batch, at=clock.now())
    exclude(who, reason="Pasted.")
    hook = Webhook.objects.create(study=study, url="https://example.org/", secret="s")
    user, may = make.member(study, role), {"may_write": True, "may_pay": True}
    study.benchmark.memberships.create(user=user, role=role)
    job = Job.objects.create(kind="pack_study", author=user, arguments={"study": study.pk})
    token = make_token(user, name="script", **may, days=9, at=clock.now())
    known = {
        **{"slug": study.slug, "name": study.benchmark.name, "person": who.annotator.pseudonym},
        **{"hook": str(hook.pk), "id": str(job.pk)},
    }
    done = asked(schemathesis, live_server.url, token, tmp_path, part=PARTS[part], known=known)
    assert done.returncode == 0, done.stdout


def test_answers_nobody_as_the_schema_says(
    schemathesis: str, benchmark: Benchmark, live_server: LiveServer, tmp_path: Path
) -> None:
    token_of("owner", benchmark)
    before = list(Run.objects.values())
    done = asked(schemathesis, live_server.url, "no-such-token", tmp_path)
    assert done.returncode == 0, done.stdout
    assert list(Run.objects.values()) == before


def asked(
    program: str,
    url: str,
    token: str,
    folder: Path,
    part: str = "",
    known: dict[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """About the addresses that hold `part`, with what is known of their parts."""
    schema, published = folder / "schema.yaml", published_schema()
    for address in published["paths"].values():
        for method in address.values():
            for one in method.get("parameters", []) if known else []:
                one["schema"] |= {"enum": [known[one["name"]]]} if one["name"] in known else {}
    schema.write_text(yaml.safe_dump(with_names_that_exist(published)))
    command = [program, "run", str(schema), "--url", url, "-H", f"Authorization: Token {token}"]
    # What may be refused in spite of the schema: which episodes and items there are, it can't tell.
    command += ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]
    command += ["--continue-on-failure", "--no-shrink", "--no-color", "--seed", "1"]
    command += ["--include-path-regex", part] if part else []
    command += ["--max-examples", "30", "--max-time", str(SECONDS)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def published_schema() -> Any:
    client = APIClient()
    client.force_authenticate(make.researcher())
    response = client.get("/api/schema/")
    assert response.status_code == 200
    return yaml.safe_load(response.content)


def with_names_that_exist(schema: Any) -> Any:
    """Without them no request would come further than the search for its task."""
    fields = schema["components"]["schemas"]["NewRunRequest"]["properties"]
    fields["benchmark"] = {"type": "string", "enum": ["toy"]}
    fields["task"] = {"type": "string", "enum": ["mood", "names"]}
    return schema

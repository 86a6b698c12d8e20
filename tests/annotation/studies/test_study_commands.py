"""What a study's pages do, by commands: the same acts, and the same refusals."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import ChangeAction, Job, Study
from annotation.studies.lifecycle import CHANGES
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    make.channel("simulated")
    task = make.task(make.benchmark("mood"), slug="mood")
    return make.batch(make.study(task.benchmark, slug="my-study"), task, wanted=2).study


def run(*arguments: object) -> tuple[str, str]:
    """What the command wrote to stdout and to stderr."""
    out, err = StringIO(), StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def state(study: Study) -> str:
    study.refresh_from_db()
    return study.state


def test_starts_pauses_resumes_and_closes(study: Study) -> None:
    anna = make.member(study, "editor")
    for command, then, action in (
        ("start_study", "open", ChangeAction.STARTED),
        ("pause_study", "paused", ChangeAction.PAUSED),
        ("resume_study", "open", ChangeAction.RESUMED),
        ("close_study", "closed", ChangeAction.CLOSED),
    ):
        out, err = run(command, "my-study", "--user", anna.username)
        assert (out, state(study)) == ("", then)
        assert err.startswith(CHANGES[command.removesuffix("_study")]["done"])
        assert study.changes.get(action=action).user == anna


def test_warns_before_and_at_the_start(study: Study) -> None:
    few = "\n- Fewer than 5 people: "
    _out, err = run("start_study", "my-study", "--dry-run")
    assert (err.startswith("Nothing is missing"), few in err, state(study)) == (True, True, "draft")
    assert few in run("start_study", "my-study")[1]
    with pytest.raises(CommandError, match="started already"):
        run("start_study", "my-study", "--dry-run")


def test_says_who_may_still_send_a_page(study: Study) -> None:
    run("start_study", "my-study")
    assert state(study) == "open"
    make.at_work(study.batches.get(), at=timezone.now())
    _out, err = run("close_study", "my-study")
    assert err.startswith("The study is closed. 1 person may still send a last page, until 2")


def test_needs_nobody_to_name(study: Study) -> None:
    run("start_study", "my-study")
    assert study.changes.get(action=ChangeAction.STARTED).user is None


def test_lists_what_is_missing(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(consent_text="", margin=2, margin_reason="")
    for command in ("start_study", "rehearse_study"):
        with pytest.raises(CommandError) as refusal:
            run(command, "my-study")
        assert str(refusal.value).splitlines() == [
            "Missing:",
            "- The consent text is empty: write one.",
            "- The margin has no reason: write one in a sentence.",
        ]
    assert state(study) == "draft"


@pytest.mark.parametrize("command", ["pause_study", "resume_study", "close_study"])
def test_refuses_what_the_pages_refuse(study: Study, command: str) -> None:
    with pytest.raises(CommandError):
        run(command, "my-study")
    assert state(study) == "draft"


@pytest.mark.parametrize("role", ["viewer", None])
def test_acts_in_nobodys_name_who_may_not(study: Study, role: str | None) -> None:
    bo = make.researcher("bo")
    if role:
        study.memberships.create(user=bo, role=role)
    with pytest.raises(CommandError, match="bo may not set up the study my-study"):
        run("start_study", "my-study", "--user", "bo")
    assert state(study) == "draft"


def test_names_the_studies_that_there_are(study: Study) -> None:
    with pytest.raises(CommandError, match="there are: my-study"):
        run("start_study", "yours")


def test_has_a_worker_play_a_rehearsal(study: Study) -> None:
    _out, err = run("rehearse_study", "my-study")
    assert err == "The rehearsal my-study-rehearsal-1 is played as soon as a worker is free.\n"
    rehearsal = Study.objects.get(rehearses=study)
    job = Job.objects.get(kind="rehearse_study")
    assert job.arguments == {"study": rehearsal.pk, "skill": 0.85, "weak": 0.1, "dropout": 0.1}


def test_says_how_far_a_study_is() -> None:
    batch = make.running_batch(wanted=2, slug="my-study")
    make.worked_through(batch)
    make.at_work(batch, at=timezone.now())
    out, _err = run("study_progress", "my-study")
    told = "1 of 2 places finished, 2 taken"
    assert out == f"my-study, open: {told}\n  {batch.task.slug}, {batch.label}: {told}\n"
    whole = json.loads(run("study_progress", "my-study", "--format", "json")[0])
    assert (whole["state"], whole["wanted"], whole["taken"], whole["kept"]) == ("open", 2, 2, 1)
    assert whole["batches"][0]["outcomes"] == {"completed": 1, "at work": 1}

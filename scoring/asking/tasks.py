"""Asking a model as a job: what a researcher orders on a page, and how a worker does it, safe to
run twice.

What may be asked there is the operator's choice, since it is their keys and money: a list of
models in the environment.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings as installation
from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.rights import Right, Thing, may
from annotation.jobs import queue
from annotation.models import Benchmark, Job, Study, Upload
from annotation.models.errors import Refusal
from scoring.asking.asked_runs import ModelSettings, Prompts
from scoring.asking.asking import Tally, ask_model
from scoring.prompts.formats import templates_for
from scoring.prompts.prompting import Subject

JOB = "run_model"
# Between what the endpoint calls a model and the endpoint's address.
AT = "@"
# Both: who stores runs, and who may read the texts that a model is shown.
NEEDED = (Right.SET_UP, Right.GOLD)
EVERY_S = 1.0


def offered_models() -> list[str]:
    """Inspect's names, or name@address."""
    return list(installation.MODELS)


@transaction.atomic
def order_model(arguments: dict[str, Any], *, templates: Any, author: User) -> Job:
    """The job that asks; the one that is under way, where the same is ordered twice."""
    same = Job.objects.filter(kind=JOB, author=author, finished_at=None, upload=None)
    under_way = same.filter(arguments=arguments).first()
    if under_way is not None and templates is None:
        return under_way
    upload = None
    if templates is not None:
        upload = Upload.objects.create(name=templates.name[:300], data=templates.read())
    return queue.enqueue(JOB, arguments, upload=upload, author=author)


def check_may_ask(benchmark: Benchmark, study: Study | None, author: User | None) -> None:
    """Rights may have been taken since it was ordered."""
    things: list[Thing] = [benchmark, *([study] if study else [])]
    if author is None or not all(may(author, thing, right) for thing in things for right in NEEDED):
        raise Refusal("Whoever ordered this may no longer run models on this benchmark.")


def settings_of(arguments: Mapping[str, Any]) -> ModelSettings:
    """Raises Refusal for a model that is not offered any more."""
    offer = arguments["model"]
    if offer not in offered_models():
        raise Refusal(f"The model {offer} is not offered here any more.")
    model, _at, address = offer.partition(AT)
    return ModelSettings.of({**arguments, "model": model, "base_url": address})


def prompts_of(
    arguments: Mapping[str, Any], benchmark: Benchmark, study: Study | None, data: bytes | None
) -> Prompts:
    """`data` are those of the file of templates."""
    names = ("tasks", "shots", "splits", "episodes", "seed")
    subject = Subject(benchmark, study, **{name: arguments[name] for name in names})
    form = arguments["format"]
    if data is None:
        return Prompts(subject, form)
    with TemporaryDirectory() as folder:
        path = Path(folder, "templates.json")
        path.write_bytes(data)
        return Prompts(subject, form, templates_for(form, path))


@queue.runs(JOB)
def run_model(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: as the form of the page writes them; the upload is the file of templates."""
    arguments = job.arguments
    benchmark = Benchmark.objects.filter(pk=arguments["benchmark"]).first()
    study = Study.objects.filter(pk=arguments["study"]).first()
    if benchmark is None or (study is None and arguments["study"] is not None):
        raise Refusal("What the model was to be shown has been deleted.")
    check_may_ask(benchmark, study, job.author)
    settings = settings_of(arguments)
    templates = bytes(job.upload.data) if job.upload else None
    prompts = prompts_of(arguments, benchmark, study, templates)
    told_at, latest = 0.0, Tally(0)

    def tell(tally: Tally, at: str) -> None:
        nonlocal told_at, latest
        latest = tally
        if time.monotonic() - told_at >= EVERY_S:
            progress(tally.done, tally.total, f"{at}: {tally.in_words(settings)}")
            told_at = time.monotonic()

    try:
        asked = ask_model(prompts, settings, owner=job.author, limit=arguments["limit"], tell=tell)
    except queue.Cancelled:
        said = latest.in_words(settings)
        raise queue.Cancelled(f"Stopped: {said}. Order the same again to ask the rest.") from None
    said = asked.in_words(settings)
    if asked.unfinished:
        reasons = "; ".join(why for why, _ in asked.failures.most_common(3))
        raise Refusal(f"{said}. Order the same again to ask what is missing. {reasons}")
    return {"summary": said, "runs": [imported.run.pk for imported in asked.runs]}

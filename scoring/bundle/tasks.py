"""A bundle that was uploaded is checked by a job, in a process of its own: what it asks for shows
only while it is computed."""

import json
import logging
import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from tempfile import NamedTemporaryFile
from time import monotonic
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.jobs import queue
from annotation.jobs.files import keep, on_disk
from annotation.models import Job, Study
from annotation.models.errors import BadInput, Refusal
from scoring.bundle.packing import Limits, export_bundle, store
from scoring.models import ImportedStudy

JOB, PACK = "check_bundle", "export_bundle"
TELLS_EVERY_S = 5
PIECE = 1 << 16
LIMITS = Limits()
CHILD = [sys.executable, "-m", "scoring.bundle.apart"]
LOOKS_EVERY_S = 1.0

logger = logging.getLogger(__name__)


def may_check(user: User | None) -> bool:
    return user is not None and user.has_perm("scoring.add_importedstudy")


@queue.runs(JOB)
def check_uploaded_bundle(job: Job, progress: queue.Progress) -> queue.Result:
    """The upload is the zip; no arguments."""
    if job.upload is None:
        raise BadInput("The uploaded file is no longer there; upload it again.")
    # It may have been taken since.
    if not may_check(job.author):
        raise Refusal("Whoever ordered this may no longer check bundles.")
    with NamedTemporaryFile(suffix=".zip") as file:
        file.write(job.upload.data)
        file.flush()
        said = _checked_apart(file.name, progress)
    if "refused" in said:
        raise BadInput(said["refused"].replace(file.name, "The uploaded file"))
    study, is_new = store(ImportedStudy(**said["study"]), owner=job.author)
    summary = f"{study.title}: {'checked' if is_new else 'imported before'}."
    return {"summary": summary, "page": reverse("scoring:imported_study", args=[study.pk])}


@queue.runs(PACK)
def pack_bundle(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and what the bundle holds: texts, simulated, with_excluded."""
    about = dict(job.arguments)
    study = Study.objects.filter(pk=about.pop("study")).first()
    if study is None:
        raise Refusal("The study is no longer there.")
    tell = queue.now_and_then(lambda: progress(0, 0, "Packing"), TELLS_EVERY_S)
    pack = partial(export_bundle, study, by=job.author, tell=tell, **about)
    with on_disk(pack) as file:
        return keep(job, f"{study.slug}-bundle.zip", iter(lambda: file.read(PIECE), b""))


def _checked_apart(file: str, progress: queue.Progress) -> dict[str, Any]:
    child = subprocess.Popen(
        [*CHILD, file, json.dumps(LIMITS)],
        cwd=settings.BASE_DIR,
        # One thread, so that its memory is what it computes with.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child, ExitStack() as at_the_end:
        at_the_end.callback(child.kill)
        began, answer = monotonic(), None
        while answer is None and (spent := monotonic() - began) < LIMITS.seconds:
            progress(int(spent), LIMITS.seconds, "seconds at most")
            try:
                answer, problem = child.communicate(timeout=LOOKS_EVERY_S)
            except subprocess.TimeoutExpired:
                continue
    if answer and child.returncode == 0:
        said: dict[str, Any] = json.loads(answer)
        return said
    if answer is not None:
        logger.warning("A bundle's check ended with %s: %s", child.returncode, problem[-2_000:])
    raise BadInput(
        f"Checking this bundle takes more than {LIMITS.megabytes:,} MB of memory or "
        f"{LIMITS.seconds} seconds: check it by the command verify_bundle."
    )

"""What the background worker is told to do. Every task is safe to run twice."""

import time

from annotation.jobs import queue
from annotation.models import Benchmark, Job, Study
from annotation.models.errors import Refusal
from scoring.asking.asking import Tally, ask_model
from scoring.asking.ordering import JOB, check_may_ask, prompts_of, settings_of

EVERY_S = 1.0


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
        outcome = ask_model(
            prompts, settings, owner=job.author, limit=arguments["limit"], tell=tell
        )
    except queue.Cancelled:
        said = latest.in_words(settings)
        raise queue.Cancelled(f"Stopped: {said}. Order the same again to ask the rest.") from None
    said = outcome.tally.in_words(settings)
    if outcome.unfinished:
        reasons = "; ".join(why for why, _ in outcome.tally.failures.most_common(3))
        raise Refusal(f"{said}. Order the same again to ask what is missing. {reasons}")
    return {"summary": said, "runs": [imported.run.pk for imported in outcome.runs]}

from annotation.jobs import files, queue
from annotation.models import Job
from scoring.cells.scope import ordered
from scoring.report.documents import JOB, export_report, file_name


@queue.runs(JOB)
def write_report(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, choices, part, form, and with_pay."""
    scope, _choices = ordered(job)
    assert scope.study is not None, "reports are of studies"
    part, form = job.arguments["part"], job.arguments["form"]
    document = export_report(scope.study, part, form, with_pay=job.arguments["with_pay"])
    return files.keep(job, file_name(scope.study, part, form), [document])

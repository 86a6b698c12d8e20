"""A part of a report as a file."""

from django.utils import translation

from annotation.models import Study
from scoring.report.documents import FORMATS, report_on, topics_table
from scoring.tables import documents

DOCUMENTS = {"text": ("text/plain; charset=utf-8", "txt"), "latex": ("application/x-tex", "tex")}
# The sheet is a table too; its LaTeX is the report's.
TABLES = [form for form in documents.FORMATS if form not in DOCUMENTS]


def export_report(study: Study, part: str, form: str, *, with_pay: bool) -> bytes:
    with translation.override("en"):  # as all documents
        report = report_on(study, with_pay=with_pay)
        if form in DOCUMENTS:
            return FORMATS[form](report, [part]).encode()
        return documents.FORMATS[form].write([topics_table(report)])


def content_type(form: str) -> str:
    return DOCUMENTS[form][0] if form in DOCUMENTS else documents.FORMATS[form].content_type


def file_name(study: Study, part: str, form: str) -> str:
    is_document = form in DOCUMENTS
    extension = DOCUMENTS[form][1] if is_document else documents.FORMATS[form].extension
    return f"{part}-{study.slug}.{extension}"

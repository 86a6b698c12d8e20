"""A report as text or LaTeX: the methods section and the reporting sheet, which is a table too."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import fill

from django.utils import translation

from annotation.jobs import files, queue
from annotation.models import Job, Study
from scoring.cells.scope import ordered
from scoring.report.facts import Facts
from scoring.report.methods import (
    PAY,
    REFERENCE,
    SIMULATED,
    Section,
    Source,
    Topic,
    latex_section,
    methods,
    sheet,
)
from scoring.tables import documents
from scoring.tables.documents import as_text as text_table
from scoring.tables.documents import escaped
from scoring.tables.table import Table, lines_of, records_of, words

# What writes one in the background.
JOB = "export_report"
WIDTH = 88
PARTS = ("methods", "sheet")
NEEDS = r"% Needs \usepackage{booktabs,graphicx,textcomp}; other scripts than Latin, LuaLaTeX."
# Behind an answer that the data alone do not give.
MARKS = {
    Source.PART: "[the researcher adds to this]",
    Source.RESEARCHER: "[for the researcher to answer]",
}


class Report:
    """The whole report, without pay for whoever may not see what anybody is paid; `with_agreement`
    as in `Facts`."""

    def __init__(
        self, study: Study, *, with_pay: bool = True, with_agreement: bool = False
    ) -> None:
        study.check_asked_here()
        facts = Facts(study, with_agreement=with_agreement)
        self.study, self.is_rehearsal = study, facts.is_rehearsal
        self.sort = facts.sort
        mark = SIMULATED.format(self.sort)
        self.marked_title = f"{study.title} ({mark})" if facts.is_rehearsal else study.title
        sections = [section for section in methods(facts) if with_pay or section.title != PAY]
        mark = mark.capitalize() if facts.is_rehearsal else ""
        self.sections = [_marked(section, mark) for section in sections]
        self.topics = [topic for topic in sheet(facts) if with_pay or topic.name != PAY]
        # Agreement is given once the study's analysis has been computed.
        self.lacks_agreement = facts.results.lacks_agreement
        self.comparison = facts.results.comparison

    @property
    def groups(self) -> list[tuple[str, list[Topic]]]:
        return [(name, list(topics)) for name, topics in groupby(self.topics, lambda t: t.group)]

    def count(self, source: Source) -> int:
        return sum(topic.source == source for topic in self.topics)


def _marked(section: Section, mark: str) -> Section:
    """A table may be taken out of its document."""
    if section.table is None or not mark:
        return section
    title = f"{mark}. {section.table.title}"
    return replace(section, table=replace(section.table, title=title))


def as_text(report: Report, parts: Sequence[str] = PARTS) -> str:
    lines: list[str] = []
    if "methods" in parts:
        lines += _heading(f"Methods: {report.marked_title}", "=")
        for section in report.sections:
            lines += [*_heading(section.title, "-"), *_text_of(section)]
    if "sheet" in parts:
        lines += _heading(f"Reporting sheet: {report.marked_title}", "=")
        lines += [fill(f"Topics, in other words, from {REFERENCE}", WIDTH), ""]
        for name, topics in report.groups:
            lines += _heading(name, "-")
            for topic in topics:
                lines += [fill(f"{topic.name}. {topic.question}", WIDTH), *_answer(topic), ""]
    return "\n".join(lines).rstrip() + "\n"


def as_latex(report: Report, parts: Sequence[str] = PARTS) -> str:
    written = [NEEDS]
    if "methods" in parts:
        written.append(rf"\section{{{escaped(f'Methods: {report.marked_title}')}}}")
        written += map(latex_section, report.sections)
    if "sheet" in parts:
        written.append(rf"\section{{{escaped(f'Reporting sheet: {report.marked_title}')}}}")
        written.append(escaped(f"Topics, in other words, from {REFERENCE}"))
        written += [_latex_group(name, topics) for name, topics in report.groups]
    return "\n\n".join(written) + "\n"


COLUMNS = (
    words("group", "Group", "The part of a baseline that the topic is about."),
    words("topic", "Topic", "The topic, in short.", source="name"),
    words("question", "Question", "What a reader asks."),
    words(
        "source", "Source", "Who answers: the data, the researcher, or both.", source="source.label"
    ),
    words("answer", "Answer", "The answer as far as the data give it."),
)


def topics_table(report: Report) -> Table:
    lines = lines_of(records_of(COLUMNS, report.topics))
    note = f"Topics, in other words, from {REFERENCE}"
    return Table("sheet", f"Reporting sheet: {report.marked_title}", note, COLUMNS, lines)


FORMATS: dict[str, Callable[[Report, Sequence[str]], str]] = {"text": as_text, "latex": as_latex}
# The sheet is a table too; its LaTeX is the report's.
TABLES = [form for form in documents.FORMATS if form not in FORMATS]
# By form, the type of a file and the end of its name.
FILES = {form: (one.content_type, one.extension) for form, one in documents.FORMATS.items()}
FILES["text"] = ("text/plain; charset=utf-8", "txt")


def forms_of(part: str) -> list[str]:
    return [*FORMATS, *(TABLES if part == "sheet" else ())]


def export_report(study: Study, part: str, form: str, *, with_pay: bool) -> bytes:
    with translation.override("en"):  # as all documents
        report = Report(study, with_pay=with_pay)
        if form in FORMATS:
            return FORMATS[form](report, [part]).encode()
        return documents.FORMATS[form].write([topics_table(report)])


@queue.runs(JOB)
def write_report(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, choices, part, form, and with_pay."""
    scope, _choices = ordered(job)
    assert scope.study is not None, "reports are of studies"
    part, form = job.arguments["part"], job.arguments["form"]
    document = export_report(scope.study, part, form, with_pay=job.arguments["with_pay"])
    return files.keep(job, file_name(scope.study, part, form), [document])


def file_name(study: Study, part: str, form: str) -> str:
    return f"{part}-{study.slug}.{FILES[form][1]}"


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def _text_of(section: Section) -> Iterable[str]:
    for paragraph in section.paragraphs:
        yield from (fill(paragraph, WIDTH), "")
    if section.table:
        yield from (text_table(section.table, width=WIDTH), "")


def _answer(topic: Topic) -> Iterable[str]:
    for text in (topic.answer, MARKS.get(topic.source)):
        if text:
            yield fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _latex_group(name: str, topics: Sequence[Topic]) -> str:
    lines = [rf"\subsection{{{escaped(name)}}}", r"\begin{description}"]
    for topic in topics:
        mark = MARKS.get(topic.source)
        sentences = [
            rf"\emph{{{escaped(topic.question)}}}",
            escaped(topic.answer),
            rf"\textbf{{{escaped(mark)}}}" if mark else "",
        ]
        lines.append(rf"\item[{escaped(topic.name)}] {' '.join(filter(None, sentences))}")
    return "\n".join([*lines, r"\end{description}"])

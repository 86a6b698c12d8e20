"""A report as a document: the methods section and the reporting sheet, as text or LaTeX."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill

from annotation.models import Study
from scoring.report.facts import gather
from scoring.report.methods import methods
from scoring.report.section import Section
from scoring.report.sheet import REFERENCE, Source, Topic, sheet
from scoring.tables.latex import escaped, latex_table
from scoring.tables.table import Column, Table, lines_of
from scoring.tables.text import as_text as text_table

WIDTH = 88
PARTS = ("methods", "sheet")
NEEDS = r"% Needs \usepackage{booktabs,graphicx,textcomp}; other scripts than Latin, LuaLaTeX."
BY_RESEARCHER = "[for the researcher to answer]"
ADDS = "[the researcher adds to this]"


@dataclass(frozen=True)
class Report:
    study: Study
    sections: tuple[Section, ...]
    topics: tuple[Topic, ...]
    # Agreement is given once the study's analysis has been computed.
    lacks_agreement: bool = False

    @property
    def groups(self) -> list[tuple[str, list[Topic]]]:
        return [(name, list(those)) for name, those in groupby(self.topics, lambda t: t.group)]

    def count(self, source: Source) -> int:
        return sum(topic.source == source for topic in self.topics)


def report(study: Study) -> Report:
    facts = gather(study)
    return Report(study, tuple(methods(facts)), tuple(sheet(facts)), facts.results.lacks_agreement)


def as_text(found: Report, parts: Sequence[str] = PARTS) -> str:
    lines: list[str] = []
    if "methods" in parts:
        lines += _heading(f"Methods: {found.study.title}", "=")
        for section in found.sections:
            lines += [*_heading(section.title, "-"), *_text_of(section)]
    if "sheet" in parts:
        lines += _heading(f"Reporting sheet: {found.study.title}", "=")
        lines += [fill(f"Topics, in other words, from {REFERENCE}", WIDTH), ""]
        for name, topics in found.groups:
            lines += _heading(name, "-")
            for topic in topics:
                lines += [fill(f"{topic.name}. {topic.question}", WIDTH), *_answer(topic), ""]
    return "\n".join(lines).rstrip() + "\n"


def as_latex(found: Report, parts: Sequence[str] = PARTS) -> str:
    written = [NEEDS]
    if "methods" in parts:
        written.append(rf"\section{{{escaped(f'Methods: {found.study.title}')}}}")
        written += [_latex_of(section) for section in found.sections]
    if "sheet" in parts:
        written.append(rf"\section{{{escaped(f'Reporting sheet: {found.study.title}')}}}")
        written.append(escaped(f"Topics, in other words, from {REFERENCE}"))
        written += [_latex_group(name, topics) for name, topics in found.groups]
    return "\n\n".join(written) + "\n"


def topics_table(found: Report) -> Table:
    """The reporting sheet as a table."""
    names = ("group", "topic", "question", "source", "answer")
    columns = tuple(Column(name, name.capitalize(), is_number=False) for name in names)
    lines = lines_of(
        {
            "group": topic.group,
            "topic": topic.name,
            "question": topic.question,
            "source": topic.source.label,
            "answer": topic.answer,
        }
        for topic in found.topics
    )
    note = f"Topics, in other words, from {REFERENCE}"
    return Table("sheet", f"Reporting sheet: {found.study.title}", note, columns, lines)


FORMATS: dict[str, Callable[[Report, Sequence[str]], str]] = {"text": as_text, "latex": as_latex}


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def _text_of(section: Section) -> Iterable[str]:
    for paragraph in section.paragraphs:
        yield from (fill(paragraph, WIDTH), "")
    if section.table:
        yield from (text_table(section.table, width=WIDTH), "")


def _answer(topic: Topic) -> Iterable[str]:
    for text in (topic.answer, _mark(topic)):
        if text:
            yield fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _mark(topic: Topic) -> str:
    return {Source.PART: ADDS, Source.RESEARCHER: BY_RESEARCHER}.get(topic.source, "")


def _latex_of(section: Section) -> str:
    parts = [rf"\subsection{{{escaped(section.title)}}}", *map(escaped, section.paragraphs)]
    if section.table:
        parts.append(latex_table(section.table))
    return "\n\n".join(parts)


def _latex_group(name: str, topics: Sequence[Topic]) -> str:
    lines = [rf"\subsection{{{escaped(name)}}}", r"\begin{description}"]
    for topic in topics:
        mark = _mark(topic)
        told = [
            rf"\emph{{{escaped(topic.question)}}}",
            escaped(topic.answer),
            rf"\textbf{{{escaped(mark)}}}" if mark else "",
        ]
        lines.append(rf"\item[{escaped(topic.name)}] {' '.join(filter(None, told))}")
    return "\n".join([*lines, r"\end{description}"])

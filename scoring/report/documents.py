"""A report as a document: the methods section and the reporting sheet, as text or LaTeX."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill

from annotation.models import Study
from scoring.comparison.sheets import Column, Sheet
from scoring.report.facts import gather
from scoring.report.methods import methods
from scoring.report.section import Section, Table
from scoring.report.sheet import REFERENCE, Source, Topic, sheet
from scoring.tables.latex import escaped

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
    # Agreement is told once the study's analysis is computed.
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


def topics_sheet(found: Report) -> Sheet:
    """The reporting sheet as a table."""
    names = ("group", "topic", "question", "source", "answer")
    columns = tuple(Column(name, name.capitalize(), is_number=False) for name in names)
    rows = tuple(
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
    return Sheet("sheet", f"Reporting sheet: {found.study.title}", note, columns, rows)


FORMATS: dict[str, Callable[[Report, Sequence[str]], str]] = {"text": as_text, "latex": as_latex}


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def _text_of(section: Section) -> Iterable[str]:
    for paragraph in section.paragraphs:
        yield from (fill(paragraph, WIDTH), "")
    if section.table:
        yield from (*_text_table(section.table), "")


def _text_table(table: Table) -> Iterable[str]:
    rows = [table.heads, *table.lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield from (fill(table.caption, WIDTH), "")
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if place < table.names else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)


def _answer(topic: Topic) -> Iterable[str]:
    for text in (topic.answer, _mark(topic)):
        if text:
            yield fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _mark(topic: Topic) -> str:
    return {Source.PART: ADDS, Source.RESEARCHER: BY_RESEARCHER}.get(topic.source, "")


def _latex_of(section: Section) -> str:
    parts = [rf"\subsection{{{escaped(section.title)}}}", *map(escaped, section.paragraphs)]
    if section.table:
        parts.append(_latex_table(section.table))
    return "\n\n".join(parts)


def _latex_table(table: Table) -> str:
    letters = "l" * table.names + "r" * (len(table.heads) - table.names)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(table.caption)}}}",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{{letters}}}",
            r"\toprule",
            _latex_line(table.heads),
            r"\midrule",
            *map(_latex_line, table.lines),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _latex_line(texts: Sequence[str]) -> str:
    return " & ".join(map(escaped, texts)) + r" \\"


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

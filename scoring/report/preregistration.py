"""What a study is going to ask and how it will be answered, as a document of its own, before the
first person comes."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import isnan, sqrt

from django.utils import translation

from annotation.models import Batch, Study
from annotation.studies.screening import screening_of, why_no_floor
from scoring.core.power import Contrast, planned_power
from scoring.core.s1 import SCORER_VERSION
from scoring.planning.plans import MOST_ITEMS, Assumptions, design_of
from scoring.report.documents import REHEARSAL, latex_sections
from scoring.report.facts import Design
from scoring.report.methods import Section, paragraphs
from scoring.tables import documents
from scoring.tables.documents import beginning, escaped, escaped_markdown
from scoring.tables.table import Column, Table, lines_of

# Each a part of preregistration.txt.
WRITTEN = (
    *("Status", "Question", "Systems", "Margin", "Design", "Planned width and power"),
    *("Screening", "Exclusions", "Stopping", "Scoring", "Analysis"),
)
PLANNED = "Planned width and power"
# In points, by how much the difference exceeds the margin.
BEYOND = (5, 10)
PREAMBLE = r"""\documentclass{article}
% Of other scripts than Latin: compile with LuaLaTeX.
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs,graphicx,textcomp}
\begin{document}
"""


@dataclass(frozen=True)
class PlannedCell:
    """A task with a number of shots; people over all its splits, items of one person. Width in
    points, powers in percent by what exceeds the margin; None where nothing can be planned."""

    task: str
    shots: int
    splits: int
    people: int
    items: int
    width: float | None
    powers: dict[int, float | None]


class Registered:
    """The facts, as the template reads them: of a study that has started, as it was then."""

    def __init__(self, study: Study) -> None:
        self.study, self.design = study, Design(study)
        self.is_draft = not study.is_frozen
        self.scorer_version = study.frozen.get("scorer_version", SCORER_VERSION)
        self.checksum = checksum_of(study)
        about = ("study", "task", "training_set", "test_set")
        self.batches = list(study.batches.select_related(*about))
        self.wanted = {
            kept["batch"]: kept.get("wanted") for kept in study.frozen.get("batches", [])
        }
        self.people = sum(map(self._people, self.batches))
        assumed = Assumptions()
        self.mean, self.sd = 100 * assumed.expected_mean, 100 * sqrt(assumed.annotator_var)
        self.item_var, self.correlation = assumed.item_var, Contrast(0.1).correlation

    def _people(self, batch: Batch) -> int:
        return self.wanted.get(batch.pk) or batch.wanted

    @property
    def names(self) -> dict[int, str]:
        return {facts.task.pk: facts.name for facts in self.design.tasks}

    @property
    def cells(self) -> Iterator[PlannedCell]:
        batches: dict[tuple[int, int], list[Batch]] = defaultdict(list)
        for batch in self.batches:
            batches[batch.task_id, batch.shots].append(batch)
        for (task, shots), those in batches.items():
            people = sum(map(self._people, those))
            items = min(batch.test_set.items.count() for batch in those)
            planned = planned_for(shots, people, items, self.study.margin)
            yield PlannedCell(self.names[task], shots, len(those), people, items, *planned)

    @property
    def screenings(self) -> list[tuple[str, str]]:
        """What each rule comes to, and how that was simulated."""
        found = filter(None, map(screening_of, self.batches))
        return list(dict.fromkeys((one.sentence, one.assumptions) for one in found))

    @property
    def without_floor(self) -> dict[str, list[str]]:
        """The cells without a floor, by the reason why."""
        cells: dict[str, dict[str, None]] = defaultdict(dict)
        for batch in self.batches:
            if reason := why_no_floor(batch):
                cells[reason][f"{self.names[batch.task_id]} with {batch.shots} shots"] = None
        return {reason: list(names) for reason, names in cells.items()}


def planned_for(
    shots: int, people: int, items: int, margin: float
) -> tuple[float | None, dict[int, float | None]]:
    """The width in points and the powers in percent that the planner promises a cell."""
    people, items = max(people, 0), min(items, MOST_ITEMS)
    if people < 2 or items < 2:
        return None, dict.fromkeys(BEYOND)
    assumed = Assumptions(shots=shots, max_items=items)
    powers = {points: _power(assumed, people, items, margin, points) for points in BEYOND}
    return 100 * design_of(assumed, people, items).width, powers


def _power(
    assumed: Assumptions, people: int, items: int, margin: float, points: int
) -> float | None:
    try:
        found = planned_power(
            mean=assumed.expected_mean,
            annotator_var=assumed.annotator_var,
            item_var=assumed.item_var,
            difference=(margin + points) / 100,
            annotators=people,
            items=items,
            runs=1,
            margin=margin / 100,
        )
    except ValueError:  # no system scores that much lower
        return None
    return None if isnan(found) else 100 * found


def checksum_of(study: Study) -> str:
    """SHA-256 of what the start froze; databases keep the keys of JSON in orders of their own."""
    told = json.dumps(study.frozen, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(told.encode()).hexdigest()


def preregistration(study: Study) -> list[Section]:
    registered = Registered(study)
    context = {"study": study, "plan": registered}
    table = _table(registered)
    return [
        Section(
            title,
            tuple(paragraphs("preregistration", title, context)),
            table if title == PLANNED else None,
        )
        for title in WRITTEN
    ]


def _table(registered: Registered) -> Table:
    powers = (
        Column(f"power_{points}", f"Power, {registered.study.margin + points:g} points", digits=0)
        for points in BEYOND
    )
    columns = (
        Column("task", "Task", is_number=False, is_name=True),
        *(Column(name, name.capitalize()) for name in ("shots", "splits", "people", "items")),
        Column("width", "Width, in points", digits=1),
        *powers,
    )
    lines = lines_of(
        {
            **{
                name: getattr(cell, name) for name in ("task", "shots", "splits", "people", "items")
            },
            "width": cell.width,
            **{f"power_{points}": power for points, power in cell.powers.items()},
        }
        for cell in registered.cells
    )
    title = "Planned cells: people over all splits, items of one person, and power in percent."
    return Table("planned", title, "", columns, lines, is_short=True)


def _title(study: Study) -> str:
    mark = REHEARSAL if study.is_rehearsal else ""
    return f"Pre-registration: {study.title}{mark}"


def as_markdown(study: Study) -> str:
    parts = [f"# {escaped_markdown(_title(study))}"]
    for section in preregistration(study):
        parts += [f"## {section.title}", *map(beginning, section.paragraphs)]
        if section.table:
            parts.append(documents.as_markdown([section.table]).strip().replace("## ", "### ", 1))
    return "\n\n".join(parts) + "\n"


def as_latex(study: Study) -> str:
    """A whole document, which compiles by itself."""
    heading = rf"\section*{{{escaped(_title(study))}}}"
    body = "\n\n".join([heading, *latex_sections(preregistration(study))])
    return f"{PREAMBLE}{body}\n\\end{{document}}\n"


# Each with its type and the end of its name.
FORMATS: dict[str, tuple[Callable[[Study], str], str, str]] = {
    "markdown": (as_markdown, "text/markdown; charset=utf-8", "md"),
    "latex": (as_latex, "application/x-tex", "tex"),
}


def export_preregistration(study: Study, form: str) -> bytes:
    with translation.override("en"):  # as all documents
        return FORMATS[form][0](study).encode()


def file_name(study: Study, form: str) -> str:
    return f"preregistration-{study.slug}.{FORMATS[form][2]}"

"""What a study is going to ask and how it will be answered, as a document before it starts."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from math import sqrt
from typing import Any

from django.utils import translation

from annotation.models import Batch, Study
from annotation.models.benchmark import cluster_of
from annotation.studies.screening import SIMULATED_AS, Screening
from scoring.core.people_designs import planned_cell
from scoring.core.power import Contrast, logit_model, power_of, simulated_chances
from scoring.core.s1 import SCORER_VERSION
from scoring.core.screening import FEWEST_ITEMS, MOST_GUESSERS
from scoring.planning.designs import MOST_ITEMS, Assumptions, design_of, size_of
from scoring.planning.plans import MOST_SIMULATED
from scoring.report.design import Design
from scoring.report.facts import sort_of
from scoring.report.methods import SIMULATED, Section, latex_section, paragraphs
from scoring.report.words import from_to
from scoring.tables import documents
from scoring.tables.documents import Format, beginning, escaped, escaped_markdown
from scoring.tables.table import Column, Table, lines_of
from scoring.tables.words import span

# Each a part of preregistration.txt.
WRITTEN = (
    *("Status", "Question", "Systems", "Margin", "Design", "Planned width and power"),
    *("Screening", "Exclusions", "Stopping", "Scoring", "Analysis"),
)
PLANNED = "Planned width and power"
SCREENED: Mapping[str, Any] = {
    "name": "screened",
    "title": (
        "Whom the rule lets in: how often a guess is right, in percent; of 100 people who only "
        "guess, how many get in; of 100 careful ones, how many are turned away."
    ),
    "note": "",
    "is_short": True,
    "columns": (
        Column("task", "Task", is_number=False, is_name=True),
        Column("places", "Places"),
        Column("items", "Items"),
        Column("guess", "A guess is right"),
        Column("guessers", "Guessers let in"),
        Column("careful", "Careful turned away"),
    ),
}
ABOUT = ("task", "shots", "splits", "people", "items")
# The planner's own.
ASSUMED = Assumptions()
MEAN = ASSUMED.expected_mean
# In points, by how much the difference exceeds the margin.
BEYOND = (5, 10)
PREAMBLE = r"""\documentclass{article}
% Of other scripts than Latin: compile with LuaLaTeX.
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs,graphicx,textcomp}
\begin{document}
"""


class Registered:
    """The facts, as the template reads them: of a study that has started, as it was then."""

    fewest_items, most_guessers, screened_as = FEWEST_ITEMS, MOST_GUESSERS, SIMULATED_AS

    def __init__(self, study: Study) -> None:
        self.study, self.design = study, Design(study)
        self.names = {facts.task.pk: facts.name for facts in self.design.tasks}
        self.is_draft = not study.is_frozen
        self.sort = sort_of(study)
        self.scorer_version = study.frozen.get("scorer_version", SCORER_VERSION)
        self.checksum = checksum_of(study)
        self.batches = self.design.batches
        self.wanted = {
            kept["batch"]: kept.get("wanted") for kept in study.frozen.get("batches", [])
        }
        self.people = sum(map(self._people, self.batches))
        self.population = self.design.population("people")
        self.mean, self.sd = 100 * MEAN, 100 * sqrt(ASSUMED.annotator_var)
        self.item_var, self.correlation = ASSUMED.item_var, Contrast(0.1).correlation

    def _people(self, batch: Batch) -> int:
        return self.wanted.get(batch.pk) or batch.wanted

    @property
    def cells(self) -> Iterator[dict[str, Any]]:
        """Each task with a number of shots: its people over all splits, the items of one person."""
        batches: dict[tuple[int, int, str], list[Batch]] = defaultdict(list)
        for batch in self.batches:
            batches[batch.task_id, batch.shots, batch.pool_name].append(batch)
        for (task, shots, pool), of_cell in batches.items():
            people = sum(map(self._people, of_cell))
            # Items of one cluster count as one, as in every interval.
            group = self.study.cluster_group(of_cell[0].task.slug)
            rows = [
                b.test_set.items.values_list("example__context_hash", "example__groups")
                for b in of_cell
            ]
            clusters = [{cluster_of(*row, group) for row in of_batch} for of_batch in rows]
            items, splits, viewers = size_of(of_cell, [*map(self._people, of_cell)], clusters)
            at = of_cell[0].shots_text.removesuffix(f"{shots} shots") or shots
            name = ", ".join(filter(None, [self.names[task], pool]))
            about = (name, at, splits, people, items)
            asked = (self.study.margin, self.comparisons, viewers)
            planned = planned_cell_of(people, items, *asked)
            yield {**dict(zip(ABOUT, about, strict=True)), **planned}

    @property
    def comparisons(self) -> int:
        """How many comparisons the family of single tasks has: of each cell with each system that
        was named, or one."""
        cells = {(batch.task_id, batch.shots, batch.pool_id) for batch in self.batches}
        return max(1, len(cells) * self._systems)

    @property
    def averages(self) -> int:
        """The comparisons of averages over tasks."""
        return len(self.design.averaged) * self._systems

    @property
    def _systems(self) -> int:
        return max(1, len(self.study.named_systems))

    @property
    def screenings(self) -> list[dict[str, Any]]:
        """What the rules for so many places and items come to, by task: shot sets differ in what a
        guess earns."""
        rules: dict[tuple[str, int, int], list[Screening]] = defaultdict(list)
        for batch in self.batches:
            for screening in self.design.screenings[batch.pk]:
                key = self.names[batch.task_id], screening.rule.places, screening.rule.items
                rules[key].append(screening)
        return [
            {
                **dict(zip(("task", "places", "items"), key, strict=True)),
                "guess": span([round(100 * s.rule.chance) for s in screenings]),
                "guessers": span([round(100 * s.figures.guessers_in) for s in screenings]),
                "careful": span([round(100 * s.figures.careful_out) for s in screenings]),
            }
            for key, screenings in rules.items()
        ]


@lru_cache(maxsize=64)
def planned_cell_of(
    people: int, items: int, margin: float, comparisons: int, viewers: int | None = None
) -> Mapping[str, Any]:
    """What the planner promises a cell: the width in points with its .05 and .95 quantiles, and the
    chances in percent of each difference beyond the margin; of a very large cell by formula alone,
    and of one in parts the width alone.
    """
    items = min(items, MOST_ITEMS)
    if people < 2 or items < 2:
        return {}
    if viewers:
        of_all = replace(ASSUMED, max_items=min(MOST_ITEMS, people * items // viewers))
        return {"width": 100 * design_of(of_all, people, items, viewers).width}
    figures: dict[str, Any] = {}
    is_small = people * items <= MOST_SIMULATED
    if is_small:
        mean, spread, difficulty = MEAN, ASSUMED.annotator_var, ASSUMED.item_var
        design = planned_cell(
            annotators=people, items=items, mean=mean, annotator_var=spread, item_var=difficulty
        )
        figures["widths"] = from_to(100 * design.widths[0], 100 * design.widths[-1])
    else:
        design = design_of(replace(ASSUMED, max_items=items), people, items)
    for points in BEYOND:
        for name, chance in _chances(people, items, points, margin, comparisons, is_small).items():
            figures[f"{name}_{points}"] = 100 * chance
    return {"width": 100 * design.width, **figures}


def _chances(
    people: int, items: int, points: int, margin: float, comparisons: int, is_small: bool
) -> dict[str, float]:
    difference = (margin + points) / 100
    try:
        contrast = Contrast(difference, margin=margin / 100, comparisons=comparisons)
        model = logit_model(MEAN, ASSUMED.annotator_var, ASSUMED.item_var, contrast)
    except ValueError:  # no system scores that much lower
        return {}
    if not is_small:
        return {"probable": power_of(model, contrast, people, items)}
    chances = simulated_chances(model, contrast, people, items)
    return {"probable": chances.probable, "sure": chances.sure} if chances else {}


def checksum_of(study: Study) -> str:
    """SHA-256 of what the start froze; databases keep the keys of JSON in orders of their own."""
    frozen = json.dumps(study.frozen, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(frozen.encode()).hexdigest()


def preregistration(study: Study) -> list[Section]:
    registered = Registered(study)
    context = {"study": study, "plan": registered}
    tables = {PLANNED: _table(registered)}
    if registered.screenings:
        tables["Screening"] = Table(**SCREENED, lines=lines_of(registered.screenings))
    return [
        Section(title, tuple(paragraphs("preregistration", title, context)), tables.get(title))
        for title in WRITTEN
    ]


def _table(registered: Registered) -> Table:
    margin = registered.study.margin
    chances = (
        Column(f"{name}_{points}", f"{name.capitalize()}, {margin + points:g} points", digits=0)
        for points in BEYOND
        for name in ("probable", "sure")
    )
    columns = (
        Column("task", "Task", is_number=False, is_name=True),
        *(Column(name, name.capitalize()) for name in ABOUT[1:]),
        Column("width", "Width", digits=1),
        Column("widths", "Its range"),
        *chances,
    )
    title = "Planned cells: people over all splits, item clusters of one person; width in points; "
    title += "chances in percent that such a difference is found probable, or sure; none is worked "
    title += "out where people meet different parts of a test set."
    return Table("planned", title, "", columns, lines_of(registered.cells), is_short=True)


def _title(study: Study) -> str:
    mark = f" ({SIMULATED.format(sort_of(study))})" if study.is_simulated else ""
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
    body = "\n\n".join([heading, *map(latex_section, preregistration(study))])
    return f"{PREAMBLE}{body}\n\\end{{document}}\n"


FORMATS = {"markdown": Format("markdown", as_markdown), "latex": Format("latex", as_latex)}


def export_preregistration(study: Study, form: str) -> bytes:
    study.check_asked_here()
    with translation.override("en"):  # as all documents
        return FORMATS[form].write(study)

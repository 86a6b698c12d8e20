from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.analysis.analysing import analyse, filled
from scoring.analysis.tables import TABLES
from scoring.cells.scope import RUNS, Choices
from scoring.comparison.comparing import compare
from scoring.comparison.documents import FORMATS
from scoring.core.intervals import ESTIMANDS, SHOT_SETS
from scoring.management import arguments
from scoring.tables import documents

# Fields of the choices, besides the shots.
CHOSEN = (
    *("references", "estimand", "shot_sets", "simulated", "with_excluded", "runs"),
    *("without_signs", "gold_version", "items", "by"),
)


class Command(BaseCommand):
    help = (
        "Print the comparison of people and systems on a study or a benchmark: cells, annotators, "
        "runs over their splits, and published figures. Reads answers, predictions and published "
        "figures; writes only the stored scores and the stored table."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        arguments.add_scope(parser)
        arguments.add_format(parser, FORMATS)
        add = parser.add_argument
        add("--estimand", choices=ESTIMANDS, default="new_items")
        sets = (
            "whether people's intervals are for these shot sets, or for new ones as well (three "
            "splits or more)"
        )
        add("--shot-sets", choices=SHOT_SETS, default="these", help=sets)
        shots = "only these, such as 0 10 30, few (episodes with training) or all"
        add("--shots", nargs="+", default=[], help=shots)
        runs = (
            "of a study: systems on its people's items and shot sets, or on all that they ran on, "
            "without verdicts"
        )
        add("--runs", choices=RUNS, default="matched", help=runs)
        version = "score against this version of the gold, not the latest"
        add("--gold-version", type=int, help=version)
        group = "only the items of this group, such as error_type=OK"
        add("--items", default="", metavar="NAME=VALUE", help=group)
        add("--by", default="", metavar="NAME", help="with rows for every group of this name")
        tables = "a table of the analysis, computed afresh, instead of the comparison itself"
        add("--table", choices=["comparison", *TABLES], default="comparison", help=tables)
        arguments.add_output(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        scope = arguments.find_scope(options)
        try:
            chosen = {name: options[name] for name in CHOSEN}
            choices = Choices(shots=tuple(options["shots"]), **chosen)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if choices.gold_version and choices.gold_version > scope.latest_gold_version:
            raise CommandError(
                f"There is no gold version {choices.gold_version}: the latest is "
                f"{scope.latest_gold_version}."
            )
        table, form = options["table"], options["format"]
        if table == "comparison":
            document = FORMATS[form].write(compare(scope, choices))
        else:
            tables = [filled(TABLES[table], analyse(scope, choices))]
            document = documents.FORMATS[form].write(tables)
        arguments.put_document(self, document, options["output"])

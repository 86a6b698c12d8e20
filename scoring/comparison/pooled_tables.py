"""The second look of an analysis as tables: annotators and items, pooled in a Rasch model."""

from scoring.comparison.analysis_columns import UNDER, UNDER_KEYS, WHERE, Plain, points, text
from scoring.tables.table import Column, Table, lines_of

OF_TASK = ("study", "simulated", "task", *UNDER_KEYS)
PLACE = tuple(column for column in WHERE if column.key != "shots")


def pooled_annotators_table(result: Plain) -> Table:
    return Table(
        "pooled-annotators",
        "A second look: annotators, pooled",
        "A Rasch model of everybody who worked on a task, where answers are right or wrong: "
        "people's abilities and items' difficulties borrow from one another. Weak: the pooled "
        "score is surely below the average, and by 10 points or more. A description, not a "
        "test; the scores above are as they are.",
        (
            *WHERE,
            text("annotator", "Annotator", "The annotator's pseudonym."),
            points("mean", "Mean", "Mean S1 in percent, as it is."),
            points("pooled", "Pooled", "The score on items like these by the model."),
            points("low", "95 % low", "Lower limit of the pooled score."),
            points("high", "95 % high", "Upper limit of the pooled score."),
            text("is_weak", "Weak", "Surely below the average, and by 10 points or more."),
            points("average", "Average", "The score of a person of average ability."),
            Column("ability_sd", "SD of abilities", "On the scale of logits.", digits=2),
            *UNDER,
        ),
        lines_of(
            {
                **{key: task[key] for key in (*OF_TASK, "average", "ability_sd")},
                **annotator,
            }
            for task in result["pooled"]
            for annotator in task["annotators"]
        ),
    )


def pooled_items_table(result: Plain) -> Table:
    return Table(
        "pooled-items",
        "A second look: items that may be faulty",
        "Items that most people like these surely get wrong, by the same model: the upper "
        "limit of their chance is below one half. Read the gold of each again: where most "
        "people give one and the same answer, it may be the gold that is wrong.",
        (
            *PLACE,
            text("item", "Item", "The item's id in its file."),
            points("chance", "Chance", "That a person of average ability is right, %."),
            points("low", "95 % low", "Lower limit of the chance."),
            points("high", "95 % high", "Upper limit of the chance."),
            Column("right", "Right", "How many answered it right."),
            Column("answers", "Answers", "How many answered it."),
            text("most", "Most said", "The answer that was given most often."),
            Column("most_count", "Times", "How many gave that answer."),
            *UNDER,
        ),
        lines_of(
            {**{key: task[key] for key in OF_TASK}, **item}
            for task in result["pooled"]
            for item in task["items"]
        ),
    )

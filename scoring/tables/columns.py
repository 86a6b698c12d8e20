"""What the columns of an exported comparison mean."""

COLUMN_MEANINGS = {
    "kind": "human: a cell of a study (task × shots); annotator: one person in it; run: a system "
    "over its splits; reported: a figure known only as published; simulated: a cell of simulated "
    "annotators, or one of them by pseudonym; consensus (on a sheet of its own): what more "
    "than half of a cell's annotators chose, scored like one answer.",
    "study": "The study's slug; empty for runs and published figures.",
    "system": "The system's name; of an annotator the pseudonym; of people Human.",
    "method": "FT, PT, ICL or another way of adapting a system; empty for people.",
    "task": "The task's slug.",
    "shots": "Number of training examples; 0 is zero-shot, all is fully supervised; few: "
    "episodes that have any.",
    "split": "The training split of one annotator; empty for a figure over splits.",
    "mean": "Mean S1 in percent, every item alike; of a cell the mean over its annotators.",
    "sd": "Sample SD (ddof 1) in percent points: over annotators (human), over splits (run), over "
    "items (annotator); as published (reported). Of episodes the SD (ddof 0) over them.",
    "n": "Annotators (human), splits (run), items with an answer (annotator), as published "
    "(reported).",
    "m": "Item clusters behind the interval: items that share a context count as one. Of "
    "episodes their number.",
    "ci_low": "Lower limit of the 95 % interval, in percent.",
    "ci_high": "Upper limit of the 95 % interval, in percent.",
    "ci_method": "How the interval was computed; with several annotators in a split it is over "
    "splits.",
    "estimand": "new_items: how other people would do on other items like these; these_items: on "
    "exactly this test set.",
    "references": "How several reference answers count: set (their union), any (the best one), "
    "unknown (a published figure that does not say).",
    "gold_version": "The version of the task's reference answers that was scored against.",
    "coverage": "Share of the items that have an answer, in [0, 1]; the mean is over these alone.",
    "normalisation": "What answers and references were rid of before they were compared: none, or "
    "squad (case, punctuation, articles and spaces, as SQuAD's script does); empty for a published "
    "figure.",
}

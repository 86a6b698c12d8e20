"""What a reader found in the files and corrected before anything was stored, in words."""

READER_MESSAGES = {
    "start_does_not_fit": (
        "Answers that are not where their answer_start says: {count}. Their position was left out; "
        "their text counts."
    ),
    "repeated_in_set": (
        "Rows that repeat the content of another row of their file: {count}. Each content is "
        "asked once, so these sets are smaller than their files."
    ),
    "gold_differs": (
        "Training rows whose gold differs from an equal row's elsewhere: {count}. The first row's "
        "gold counts."
    ),
    "empty_context": "Rows with an empty context, or an empty part of one: {count}.",
    "unused_columns": "Columns that are not used: {count}.",
    "columns": "Columns, as they were found.",
    "recognised": "Recognised by its columns as a published set.",
    "left_aside": "Columns that hold no part of what is asked, and are left out: {count}.",
    "rows": "Rows.",
    "unlabelled": "Parts without answers, which are left out: {count}.",
    "only_training": "Parts that are asked though they are named for training: {count}.",
    "first_line": (
        "Files whose first line counts as names of columns, and looks like a row: {count}."
    ),
    "fewer_options": "Rows with empty options, which have fewer buttons: {count}.",
    "shortened": (
        "Rows of which one piece is kept, and others are lost: {count}. A path that ends in “.*” "
        "keeps all."
    ),
    "equal_pieces": "Equal pieces of one answer, which count once: {count}.",
    "missing_unseen": "Signs of no answer (“missing”) that stand in no cell: {count}.",
    "language": (
        "No language is named, and the letters are not Latin: {count}. Browsers and screen readers "
        "go by it."
    ),
    "language_assumed": "No language is named, so it counts as English (`en`).",
    "patterns": (
        "Answers to type that look like regular expressions: {count}. They are compared as they "
        "are written; write what people would type."
    ),
    "other_script": "The letters are none of the language that is named: {count}.",
    "listed_in_text": (
        "Answers to type that hold “|”: {count}. People would have to type the sign; write several "
        "answers as a list."
    ),
    "rare_labels": (
        "Labels that one row alone has: {count}. A slip of the pen makes a button of its own."
    ),
    "canary": "The files carry a canary, which the benchmark keeps if it has none yet.",
    "not_drawn": "Parts that no shot sets were drawn from: {count}.",
}
# They say what was done, and are no reason for doubt.
PLAIN = (
    *("recognised", "rows", "columns", "left_aside", "unused_columns", "not_drawn", "canary"),
    *("unlabelled", "language_assumed"),
)

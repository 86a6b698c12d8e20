"""Every column of every exported table: its name, what it means, and, of judgements, where its
value is read. Files are for readers anywhere: English."""

from scoring.tables.table import Column


def columns_of(*described: tuple[str, ...]) -> tuple[Column, ...]:
    """Of each its name, its meaning and, where it is read as it is, its source."""
    return tuple(
        Column(name, name, meaning, source="".join(source)) for name, meaning, *source in described
    )


COLUMNS: dict[str, tuple[Column, ...]] = {
    "judgements": columns_of(
        ("study", "Short name of the study.", "assignment__study__slug"),
        ("benchmark", "Name of the benchmark.", "assignment__study__benchmark__name"),
        ("task", "Short name of the task.", "assignment__batch__task__slug"),
        ("batch", "Number of the batch.", "assignment__batch_id"),
        (
            "shots",
            "Training examples that were shown, 0 for none.",
            "assignment__batch__training_set__shots",
        ),
        (
            "split",
            "Which of the shot sets of this size; empty where there is none.",
            "assignment__batch__training_set__split",
        ),
        ("chain", "The run of shot sets that truly nest.", "assignment__batch__chain"),
        (
            "episode",
            "Number of the few-shot episode; empty elsewhere.",
            "assignment__batch__test_set__episode",
        ),
        ("annotator", "Pseudonym of the person.", "assignment__annotator__pseudonym"),
        (
            "simulated",
            "true where a program answered.",
            "assignment__annotator__channel__is_simulated",
        ),
        ("assignment", "Number of the person's work on the batch.", "assignment_id"),
        (
            "order_seed",
            "Seed of the order in which this person saw the items.",
            "assignment__order_seed",
        ),
        (
            "outcome",
            "completed, screened_out, withdrawn, expired, displaced; empty while open.",
            "assignment__outcome",
        ),
        ("excluded", "true where a researcher excluded the assignment.", "assignment__exclusion"),
        (
            "resume_renewed_at",
            "When a new personal link was handed out (UTC); empty for never.",
            "assignment__resume_renewed_at",
        ),
        ("role", "training or test.", "role"),
        ("step", "Place in this person's order, from 0.", "step"),
        (
            "identity",
            "Name of the example: training by its content, test by its id.",
            "example__identity",
        ),
        ("content_hash", "SHA-256 of the example's content.", "example__content_hash"),
        ("answer", "The answer as a JSON list of texts, empty for none.", "answer"),
        (
            "spans",
            "JSON list of [segment, start, end] in code points, where pieces were selected.",
            "spans",
        ),
        ("shown_at", "When the item was shown (UTC, the server's clock).", "shown_at"),
        ("submitted_at", "When the answer was stored (UTC, the server's clock).", "submitted_at"),
        (
            "paid_ms",
            "Milliseconds counted for pay, at most the study's cap for an item.",
            "paid_ms",
        ),
        ("browser_ms", "Milliseconds on the page, by the browser's account.", "browser_ms"),
        (
            "first_action_ms",
            "Milliseconds to the first action, by the browser's account.",
            "first_action_ms",
        ),
        ("active_ms", "Active milliseconds, by the browser's account.", "active_ms"),
        ("pastes", "How often something was pasted, by the browser's account.", "pastes"),
        (
            "gold_version",
            "Version of the gold that was shown in training, and screened by.",
            "assignment__batch__gold_version__number",
        ),
        ("item", "The id that the benchmark's file gives the item."),
        ("s1_set", "S1 in [0, 1] where several references count as their union."),
        ("s1_any", "S1 in [0, 1] where the best of several references counts."),
        ("scored_gold_version", "Version of the gold that s1_set and s1_any are scored against."),
        ("scorer_version", "Version of the scorer."),
        ("set_checksum", "Checksum of the item set."),
        ("checksum", "Running SHA-256 over this row and all rows before it."),
    ),
    "assignments": columns_of(
        ("assignment", "Number of the person's work on the batch."),
        ("annotator", "Pseudonym of the person."),
        ("simulated", "true where a program works."),
        ("excluded", "true where a researcher excluded it."),
        ("task", "Short name of the task."),
        ("batch", "Number of the batch."),
        ("shots", "Training examples, 0 for none."),
        ("split", "Which of the shot sets of this size; empty where there is none."),
        ("episode", "Number of the few-shot episode; empty elsewhere."),
        ("gold_version", "Version of the gold that is shown in training, and screened by."),
        ("state", "description, answering, revealed or finished."),
        ("step", "The next item, counted from 0 over training and test."),
        ("outcome", "completed, screened_out, withdrawn, expired, displaced; empty while open."),
        ("training_score", "Mean S1 of the first answers in training, in percent."),
        ("passed", "Whether the training was passed; empty before its end, or without training."),
        ("joined_at", "When the person joined (UTC)."),
        ("training_ended_at", "When the training ended (UTC)."),
        ("finished_at", "When the work ended (UTC)."),
        ("paid_ms", "Milliseconds counted for pay, with the study's caps."),
        ("reveal_ms", "Milliseconds spent on right answers in training."),
        ("resume_renewed_at", "When a new personal link was handed out (UTC); empty for never."),
        ("order_seed", "Seed of the order in which this person sees the items."),
    ),
    "people": columns_of(
        ("annotator", "Pseudonym of the person."),
        ("channel", "Where the person came from."),
        ("assignments", "Assignments in this study."),
        ("completed", "Of these, the completed ones."),
        ("first_joined_at", "When the person first joined (UTC)."),
        ("paid_ms", "Milliseconds counted for pay, over all of them."),
        ("erased", "true where the person's identity was erased."),
    ),
    "items": columns_of(
        ("task", "Short name of the task."),
        ("set", "Name of the item set."),
        ("role", "training or test."),
        ("position", "Position in the set; annotators see an order of their own."),
        ("item", "The id that the benchmark's file gives the item."),
        ("identity", "Name of the example: training by its content, test by its id."),
        ("context", "The text, a JSON list of segments."),
        ("question", "The question."),
        ("candidates", "JSON list of [segment, start, end] of the marked candidates."),
        ("labels", "JSON list of the labels that the set offers."),
        ("gold", "JSON list of alternatives, each a list of texts."),
        ("gold_version", "The version that brought this gold."),
        ("content_hash", "SHA-256 of the example's content."),
        ("context_hash", "SHA-256 of its context; items that share one are one cluster."),
    ),
    "problems": columns_of(
        ("annotator", "Pseudonym of the person."),
        ("assignment", "Number of the person's work on the batch."),
        ("task", "Short name of the task."),
        ("example", "The example that it is about; empty for the whole."),
        ("text", "What the person wrote."),
        ("written_at", "When (UTC)."),
    ),
    "ids": columns_of(
        ("annotator", "Pseudonym of the person."),
        ("assignment", "Number of the person's work on the batch."),
        ("channel", "Where the person came from."),
        ("external_id", "The person's id there; empty once it was erased."),
        ("submission_id", "The id of the submission there, if the channel has one."),
    ),
}

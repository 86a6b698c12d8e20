import logging

from config.logs import DiscreetFormatter


def written(message: str, error: Exception | None = None) -> str:
    raised = (type(error), error, None) if error else None
    record = logging.LogRecord("name", logging.ERROR, "", 0, message, None, raised)
    return DiscreetFormatter("%(levelname)s %(message)s").format(record)


def test_writes_a_message_as_it_is() -> None:
    assert written("Imported 3 tasks.") == "ERROR Imported 3 tasks."


def test_leaves_out_the_values_of_a_refused_row() -> None:
    refused = ValueError(
        'duplicate key value violates unique constraint "one_person"\n'
        "DETAIL:  Key (channel_id, external_id)=(1, 5f3a) already exists."
    )
    line = written("Internal Server Error", refused)
    assert "one_person" in line
    assert "5f3a" not in line

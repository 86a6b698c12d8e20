"""What a log line may say: never who an annotator is."""

import logging
import re

# PostgreSQL repeats the values of a refused row, among them a person's external id.
ROW_VALUES = re.compile(r"^(DETAIL|CONTEXT): .*$", re.MULTILINE)


class DiscreetFormatter(logging.Formatter):
    """Leaves the values of a refused row out of messages and tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return ROW_VALUES.sub(r"\1: (left out)", super().format(record))

"""What a report tells of signs that answers are a program's: whose, which, and what the differences
are without them. They exclude nobody."""

from collections import Counter
from collections.abc import Callable, Sequence

from annotation.models import Assignment, Study
from annotation.people.signs import TRANSLATED, of_programs
from scoring.cells.scope import with_signs
from scoring.comparison.comparison import block_of
from scoring.contrasts.difference import Difference, name_of
from scoring.contrasts.outcomes import verdict_in_words
from scoring.report.words import INTERVAL, TASK, from_to
from scoring.tables.table import Column, Table, Value, lines_of, words

COLUMNS = (
    TASK,
    words("shots", "Shots"),
    words("against", "Against"),
    Column("n", "n"),
    Column("difference", "Difference", digits=1),
    words("verdict", "Verdict"),
    Column("n_without", "n without"),
    Column("without", "Difference without", digits=1),
    words("interval", INTERVAL),
    words("verdict_without", "Verdict without"),
)


class Signs:
    """Tells of the people whose answers count. tests: every difference; without: the same without
    the people who show signs, which takes a while."""

    def __init__(
        self, study: Study, tests: Sequence[Difference], without: Callable[[], Sequence[Difference]]
    ) -> None:
        self._tests, self._without = tests, without
        counted = Assignment.objects.counted().filter(pk__in=with_signs([study]))
        people = list(counted.select_related("summary"))
        self.people, names = len(people), of_programs()
        signs = (name for person in people for name in person.summary.signs)
        counts = Counter(names[name] for name in signs if name in names)
        self.kinds = [f"{name} ({count})" for name, count in counts.most_common()]
        counted = Assignment.objects.counted().in_places().filter(study=study)
        self.translated = counted.filter(summary__signs__has_key=TRANSLATED).count()

    @property
    def table(self) -> Table:
        """Every difference as it is, and without the people who show signs."""
        again = {_whose(test): test for test in self._without()} if self.people else {}
        records = (_record(test, again.get(_whose(test))) for test in self._tests)
        title = "Differences in points of S1, and without the people whose answers show signs."
        return Table("signs", title, "", COLUMNS, lines_of(records if again else ()), is_short=True)


def _whose(test: Difference) -> tuple[object, ...]:
    return test.task, test.pool, test.shots, name_of(test), block_of(test)


def _record(test: Difference, without: Difference | None) -> dict[str, Value]:
    return {
        **{name: getattr(test, name) for name in ("task", "shots", "n", "difference")},
        "against": name_of(test),
        "verdict": verdict_in_words(test),
        "n_without": without.n if without else 0,
        "without": without.difference if without else None,
        "interval": from_to(without.low, without.high) if without else "",
        "verdict_without": verdict_in_words(without) if without else "",
    }

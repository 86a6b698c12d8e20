"""What researchers call the tasks of a benchmark."""

from collections import Counter
from collections.abc import Iterable

from annotation.models import Task


def names_of(tasks: Iterable[Task]) -> dict[str, str]:
    """By slug, what researchers read: two tasks of one name keep theirs apart."""
    named = {task.slug: str(task) for task in tasks}
    counts = Counter(named.values())
    return {slug: f"{name} ({slug})" if counts[name] > 1 else name for slug, name in named.items()}

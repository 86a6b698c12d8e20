"""Importing a bundle: another group's study, to be looked at.

It becomes a row of its own, with its figures, and nothing else: no study, no task, no annotator. So
its people hold no exposure here, and nothing of it can mix with what was measured here.
"""

from django.contrib.auth.models import User

from annotation.benchmarks.archives import Source
from annotation.models.errors import BadInput
from scoring.bundle.checking import verify_bundle
from scoring.models import ImportedStudy


def import_bundle(
    source: Source, *, owner: User | None = None, checksum: str = ""
) -> tuple[ImportedStudy, bool]:
    """The imported study, and whether it is new. The same bundle twice is one study."""
    checked = verify_bundle(source, checksum=checksum)
    about = checked.about
    texts = {name: str(about.get(name) or "") for name in ("study", "title", "benchmark")}
    if not all(texts.values()):
        raise BadInput("The file study.json does not name the study and its benchmark.")
    return ImportedStudy.objects.get_or_create(
        owner=owner,
        checksum=checked.checksum,
        defaults={
            "slug": texts["study"],
            "title": texts["title"],
            "benchmark": texts["benchmark"],
            "about": about,
            "figures": checked.figures,
        },
    )

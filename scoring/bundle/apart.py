"""Checks a bundle in this process alone, which ends where that takes too much.

    python -m scoring.bundle.apart FILE LIMITS

Prints what is to be stored, or why it is refused, as JSON.
"""

import json
import resource
import sys
from pathlib import Path

import django


def main(file: str, numbers: str) -> None:
    django.setup()
    from annotation.models.errors import BadInput
    from scoring.bundle.packing import FIELDS, Limits, verify_bundle

    limits = Limits(*json.loads(numbers))
    resource.setrlimit(resource.RLIMIT_AS, 2 * (limits.megabytes * 1_000_000,))
    # Where whoever waits for it is gone.
    resource.setrlimit(resource.RLIMIT_CPU, 2 * (limits.seconds,))
    said: dict[str, object]
    try:
        study = verify_bundle(Path(file), limits=limits)
        said = {"study": {name: getattr(study, name) for name in FIELDS}}
    except BadInput as refusal:
        said = {"refused": str(refusal)}
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])

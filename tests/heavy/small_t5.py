"""The small text-to-text model, and the settings with which it is tuned."""

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from annotation.models import Benchmark
from annotation.simulation.demonstration import BENCHMARK

SYSTEM = "Small T5"
# The papers' settings are for models that know much already; this one has all to learn.
SETTINGS = [
    *("--format", "clues", "--optimizer", "adamw", "--learning-rate", 1e-3, "--warmup", 0.1),
    *("--batch-size", 16, "--steps", 80, "--longest-answer", 48),
]


def finetune(*arguments: object) -> str:
    out = StringIO()
    call_command("finetune_model", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def import_demo(folder: Path = BENCHMARK, name: str = "demo") -> Benchmark:
    call_command("import_benchmark", folder, name=name, stdout=StringIO(), stderr=StringIO())
    return Benchmark.objects.get(name=name)


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

"""Commands that models are tuned by, on the demonstration."""

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from annotation.models import Benchmark
from annotation.simulation.demonstration import BENCHMARK


def finetune(*arguments: object) -> str:
    out = StringIO()
    call_command("finetune_model", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def import_demo(folder: Path = BENCHMARK, name: str = "demo") -> Benchmark:
    call_command("import_benchmark", folder, name=name, stdout=StringIO(), stderr=StringIO())
    return Benchmark.objects.get(name=name)


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

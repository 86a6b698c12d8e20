"""Runs as the API takes and shows them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.access.serializers import (
    Fields,
    ListOf,
    Messages,
    Name,
    OneOf,
    OurWords,
    Text,
    Whole,
    YesOrNo,
)
from annotation.kinds.naming import WAYS
from annotation.models.errors import BadInput
from scoring.models import FULLY_SUPERVISED, Method, ProtocolTag, Run, Standing, shots_label
from scoring.runs.formats import records

MOST_IN_PIECE = 5_000
LONGEST_CITATION = 10_000


class Number(Whole):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=records.LARGEST, **kwargs)


TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0, "maximum": records.LARGEST}


@extend_schema_field({"oneOf": [{**TEXT, "minLength": 1}, {"type": "integer"}]})
class IdField(OurWords, serializers.CharField):
    """Numbers count as strings, as in files."""

    default_error_messages: ClassVar[Messages] = {"invalid": "This is a text or a whole number."}

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, str | int):
            self.fail("invalid")
        return super().to_internal_value(str(data))


@extend_schema_field({"oneOf": [NUMBER, {**TEXT, "enum": [FULLY_SUPERVISED]}]})
class ShotsField(OurWords, serializers.Field[Any, object, int | str, Run]):
    """A number, or "all" for fully supervised."""

    def __init__(self, **kwargs: Any) -> None:
        # Null in the database is a value here, not the absence of one.
        super().__init__(**{"source": "*", **kwargs})

    def to_representation(self, value: Run) -> int | str:
        return shots_label(value.shots)

    def to_internal_value(self, data: object) -> dict[str, int | str]:
        try:
            if isinstance(data, str) and data != FULLY_SUPERVISED:
                raise BadInput(f"“shots” must be a number from 0 or “all”, but it is {data!r}.")
            return {"shots": records.as_shots(data)}
        except BadInput as error:
            raise serializers.ValidationError(str(error)) from error


@extend_schema_field({"oneOf": [{"type": "array", "items": TEXT}, TEXT]})
class AnswerField(OurWords, serializers.Field[tuple[str, ...], object, list[str], tuple[str, ...]]):
    """A list of strings, or one string."""

    def to_internal_value(self, data: object) -> tuple[str, ...]:
        pieces = [data] if isinstance(data, str) else data
        if not records.are_texts(pieces):
            raise serializers.ValidationError(
                "The prediction must be a list of strings, or one string."
            )
        return tuple(pieces)


@extend_schema_field(
    {
        "type": "string",
        "enum": Standing.values,
        "nullable": True,
        "description": "The run's standing on the leaderboard: waiting for a researcher's "
        "decision, approved, there because researchers stored it, or kept off; null while it is "
        "being uploaded.",
    }
)
class StandingField(serializers.CharField):
    pass


class RunSerializer(serializers.ModelSerializer[Run]):
    benchmark = serializers.SlugField(source="task.benchmark.name", read_only=True)
    task = serializers.SlugField(source="task.slug", read_only=True)
    test_set = serializers.SlugField(source="test_set.name", read_only=True)
    shots = ShotsField(read_only=True)
    owner = serializers.CharField(source="owner.username", default=None, read_only=True)
    protocol = serializers.ListField(child=serializers.CharField(), read_only=True)
    coverage = serializers.FloatField(read_only=True, allow_null=True)
    leaderboard = StandingField(source="standing", read_only=True)
    report = serializers.DictField(read_only=True)

    class Meta:
        model = Run
        fields = (
            *("id", "benchmark", "task", "test_set", "system", "method", "parameters", "shots"),
            *("split", "repeat", "episode", "citation", "url", "uses_labelled", "uses_unlabelled"),
            *("protocol", "source_format", "source_name", "state", "checksum", "owner"),
            *("created_at", "completed_at", "coverage", "leaderboard", "report"),
        )
        read_only_fields = fields


class NewRunSerializer(Fields):
    """What a run is; the predictions follow in pieces."""

    benchmark = Name(required=False, help_text="Needed if there are several.")
    task = Name()
    system = Text(max_length=records.longest("system"))
    method = OneOf(choices=Method.choices)
    parameters = Text(required=False, allow_blank=True, max_length=records.longest("parameters"))
    shots = ShotsField()
    split = Number(required=False, allow_null=True)
    repeat = Number(required=False, allow_null=True, help_text="Which of several such runs.")
    episode = Number(required=False, allow_null=True)
    citation = Text(required=False, allow_blank=True, max_length=LONGEST_CITATION)
    url = Text(required=False, allow_blank=True, max_length=records.longest("url"))
    uses_labelled = YesOrNo(required=False, allow_null=True)
    uses_unlabelled = YesOrNo(required=False, allow_null=True)
    protocol = ListOf(child=OneOf(choices=ProtocolTag.choices), required=False)

    def validate(self, attrs: Mapping[str, Any]) -> records.RunFields:
        try:
            return records.run_fields(attrs)
        except BadInput as error:
            raise serializers.ValidationError(str(error)) from error


class PredictionSerializer(Fields):
    id = IdField(
        help_text="The id of the test example, or of its exported prompt; numbers count as strings."
    )
    prediction = AnswerField()


class PieceSerializer(Fields):
    answer_by = OneOf(
        choices=list(WAYS),
        required=False,
        help_text="How answers name the options of an item, where that may be read in two ways.",
    )
    predictions = ListOf(child=PredictionSerializer(), min_length=1, max_length=MOST_IN_PIECE)


class FinishSerializer(Fields):
    partial = YesOrNo(  # type: ignore[assignment]  # hides what serializers are made with
        default=False, help_text="Whether it may lack predictions."
    )


class PieceAnswerSerializer(serializers.Serializer[Any]):
    """What became of a piece, and how complete the run is."""

    stored = serializers.IntegerField()
    repeated = serializers.IntegerField(help_text="Predictions that were already stored.")
    answered = serializers.IntegerField(help_text="Items that have a prediction so far.")
    items = serializers.IntegerField(help_text="Items of the test set.")


class RunScoreSerializer(serializers.Serializer[Any]):
    references = serializers.CharField()
    normalisation = serializers.CharField(
        help_text="What both sides were rid of: none, typed, squad or number."
    )
    gold_version = serializers.IntegerField()
    scorer_version = serializers.IntegerField()
    mean = serializers.FloatField(help_text="S1 in percent, over the answered items only.")
    answered = serializers.IntegerField()
    items = serializers.IntegerField()
    coverage = serializers.FloatField()
    is_partial = serializers.BooleanField()

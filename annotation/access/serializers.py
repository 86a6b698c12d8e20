"""What a body of JSON holds: its fields, each of one type, and no others."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, TypeAlias

from django_stubs_ext import StrOrPromise
from rest_framework import exceptions, serializers

from annotation.models.texts import described_beside, nearest, storable

# How what is wrong with a field is said, and with a request, by Django REST framework's codes.
MESSAGES = described_beside(__file__)
Messages: TypeAlias = dict[str, StrOrPromise]


class OurWords:
    """A field that says what is wrong in our words, not in the framework's."""

    default_error_messages: ClassVar[Messages] = MESSAGES["fields"]


class _OfItsType(OurWords):
    """A field that refuses a value of another type of JSON, as the schema says: what is a number
    to somebody is a text to somebody else."""

    type: ClassVar[type]

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, self.type):
            self.fail("invalid")  # type: ignore[attr-defined]  # of the field beside it
        return super().to_internal_value(data)  # type: ignore[misc]


class Text(_OfItsType, serializers.CharField):
    default_error_messages: ClassVar[Messages] = {"invalid": "This is a text."}
    type = str


class Name(_OfItsType, serializers.SlugField):
    default_error_messages: ClassVar[Messages] = {
        "invalid": "This is a name: letters, digits, hyphens and underscores."
    }
    type = str


class YesOrNo(_OfItsType, serializers.BooleanField):
    default_error_messages: ClassVar[Messages] = {"invalid": "This is true or false."}
    type = bool


class Whole(_OfItsType, serializers.IntegerField):
    default_error_messages: ClassVar[Messages] = {"invalid": "This is a whole number."}
    type = int

    def to_internal_value(self, data: Any) -> Any:
        # JSON has one kind of number: 3.0 is a whole one.
        is_whole_float = isinstance(data, float) and data.is_integer()
        return super().to_internal_value(int(data) if is_whole_float else data)


class OneOf(OurWords, serializers.ChoiceField):
    def fail(self, key: str, **about: Any) -> Any:
        super().fail(key, known=", ".join(map(str, self.choices)), **about)


class ListOf(OurWords, serializers.ListField):
    default_error_messages: ClassVar[Messages] = {
        "min_length": "These are too few: {min_length} is the least.",
        "max_length": "These are too many: {max_length} is the most.",
    }


class Fields(OurWords, serializers.Serializer[Any]):
    """A body with the fields that are known, and no others."""

    default_error_messages: ClassVar[Messages] = {"invalid": "This is an object: {{…}}."}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            refuse_unknown(data, self.fields)
        return super().to_internal_value(data)


def refuse_unknown(names: Collection[str], known: Collection[str], what: str = "field") -> None:
    """Raises ValidationError, with the nearest that is known."""
    if unknown := [name for name in names if name not in known]:
        raise exceptions.ValidationError(
            {
                storable(name[:100]): [f"There is no such {what} here; {nearest(name, known)}"]
                for name in unknown
            }
        )

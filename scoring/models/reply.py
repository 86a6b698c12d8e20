"""What a model wrote, where it was asked from here: word for word, before it was read."""

from django.db import models

from scoring.models.run import Prediction


class Reply(models.Model):
    """Behind a prediction; as final as that is."""

    prediction = models.OneToOneField(
        Prediction, on_delete=models.CASCADE, primary_key=True, related_name="reply"
    )
    text = models.TextField(blank=True)
    # As the provider calls what answered.
    version = models.CharField(max_length=200, blank=True)
    # Why it stopped writing: stop, max_tokens, content_filter, …
    stop_reason = models.CharField(max_length=40, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"reply behind prediction {self.prediction_id}"

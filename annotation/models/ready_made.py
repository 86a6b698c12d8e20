"""The channels that every database begins with. A researcher may change or add to them."""

from typing import Any

READY_MADE_CHANNELS: list[dict[str, Any]] = [
    {
        "slug": "prolific",
        "name": "Prolific",
        "person_param": "PROLIFIC_PID",
        "id_form": "[0-9a-f]{24}",
        "study_param": "STUDY_ID",
        "submission_param": "SESSION_ID",
        "link_query": "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
        "&SESSION_ID={{%SESSION_ID%}}",
        "completion_url": "https://app.prolific.com/submissions/complete?cc={code}",
    },
    {
        "slug": "connect",
        "name": "CloudResearch Connect",
        "person_param": "participantId",
        "study_param": "projectId",
        "submission_param": "assignmentId",
    },
    {"slug": "link", "name": "Plain link"},
    {"slug": "invited", "name": "Personal links", "invited_only": True},
    {"slug": "simulated", "name": "Simulated annotators", "is_simulated": True},
]

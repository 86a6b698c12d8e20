from annotation.models.access import Change, ChangeAction, MemberRole, Membership
from annotation.models.assignment import Annotator, Assignment, DeviceCode, Exclusion, WorkState
from annotation.models.batch import Batch, Invitation
from annotation.models.benchmark import (
    Benchmark,
    Example,
    Gold,
    GoldVersion,
    Item,
    ItemSet,
    Kind,
    Normalisation,
    ReferencePolicy,
    Role,
    Task,
    Transfer,
)
from annotation.models.channel import Channel
from annotation.models.identity import IdentityKey
from annotation.models.job import Job, JobFile, JobState, Upload
from annotation.models.judgement import Comment, Judgement, WorkSummary
from annotation.models.payment import (
    PaymentLine,
    Payout,
    PayoutState,
    PayoutWay,
    PayPurpose,
)
from annotation.models.place import JoinCount, Place
from annotation.models.prolific import ProlificStudy, Submission, SubmissionStatus
from annotation.models.study import (
    DropUnit,
    JoinAnswer,
    Outcome,
    OutcomeRule,
    Study,
    StudyState,
    new_token,
)

__all__ = [
    "Annotator",
    "Assignment",
    "Batch",
    "Benchmark",
    "Change",
    "ChangeAction",
    "Channel",
    "Comment",
    "DeviceCode",
    "DropUnit",
    "Example",
    "Exclusion",
    "Gold",
    "GoldVersion",
    "IdentityKey",
    "Invitation",
    "Item",
    "ItemSet",
    "Job",
    "JobFile",
    "JobState",
    "JoinAnswer",
    "JoinCount",
    "Judgement",
    "Kind",
    "MemberRole",
    "Membership",
    "Normalisation",
    "Outcome",
    "OutcomeRule",
    "PayPurpose",
    "PaymentLine",
    "Payout",
    "PayoutState",
    "PayoutWay",
    "Place",
    "ProlificStudy",
    "ReferencePolicy",
    "Role",
    "Study",
    "StudyState",
    "Submission",
    "SubmissionStatus",
    "Task",
    "Transfer",
    "Upload",
    "WorkState",
    "WorkSummary",
    "new_token",
]

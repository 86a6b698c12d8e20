"""The tables, each imported from here; what belongs to them lies in their modules."""

from annotation.models.access import (
    SETS_UP,
    ApiToken,
    Change,
    ChangeAction,
    MemberLink,
    MemberRole,
    Membership,
)
from annotation.models.assignment import (
    CHECK,
    Annotator,
    Assignment,
    Comment,
    DeviceCode,
    Exclusion,
    Exposure,
    GivenScore,
    IdentityKey,
    JoinCount,
    Judgement,
    Place,
    WorkState,
    WorkSummary,
)
from annotation.models.batch import Batch, Invitation, Pool
from annotation.models.benchmark import (
    Benchmark,
    Example,
    Formula,
    Gold,
    GoldVersion,
    Image,
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
from annotation.models.job import Job, JobFile, JobState, Upload
from annotation.models.payment import (
    HANDED_IN,
    LOST,
    Delivery,
    PaymentLine,
    Payout,
    PayoutState,
    PayoutWay,
    PayPurpose,
    ProlificStudy,
    Submission,
    SubmissionStatus,
)
from annotation.models.study import (
    DropUnit,
    JoinAnswer,
    LabDefaults,
    Outcome,
    OutcomeRule,
    Study,
    StudyState,
    new_token,
)
from annotation.models.webhook import HookCall, HookEvent, Webhook

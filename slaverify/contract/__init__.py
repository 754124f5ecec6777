"""Room contract: what was agreed. Pure; reading a file is the second door, `slaverify.contract.load`."""

from slaverify.contract.digests import contract_digest, method_digest, run_id
from slaverify.contract.filters import FIELDS, matches
from slaverify.contract.freezing import completed, freeze, tree_of
from slaverify.contract.library import LIBRARY, ReadyMetric
from slaverify.contract.loaded import LoadedContract, edited
from slaverify.contract.model.metrics import Metric
from slaverify.contract.model.root import Contract
from slaverify.contract.model.scalars import instant
from slaverify.contract.numbers import (
    breach_level,
    derived_numbers,
    family_size,
    has_integers,
    metric_n,
    metric_strata,
    sample_sizes,
)
from slaverify.contract.ports import PartySignature, SignatureFinding, SignatureVerifier, Signer
from slaverify.contract.words import Attribution, Outcome, Role

__all__ = [
    "FIELDS",
    "LIBRARY",
    "Attribution",
    "Contract",
    "LoadedContract",
    "Metric",
    "Outcome",
    "PartySignature",
    "ReadyMetric",
    "Role",
    "SignatureFinding",
    "SignatureVerifier",
    "Signer",
    "breach_level",
    "completed",
    "contract_digest",
    "derived_numbers",
    "edited",
    "family_size",
    "freeze",
    "has_integers",
    "instant",
    "matches",
    "method_digest",
    "metric_n",
    "metric_strata",
    "run_id",
    "sample_sizes",
    "tree_of",
]

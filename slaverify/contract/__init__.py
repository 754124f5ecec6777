"""Room contract: what was agreed. Pure; reading a file is the second door, `slaverify.contract.load`."""

from slaverify.contract.checks.patterns import regex_fault
from slaverify.contract.digests import contract_digest, method_digest, run_id
from slaverify.contract.filters import FIELDS, matches
from slaverify.contract.findings import Finding, dotted
from slaverify.contract.freezing import completed, freeze, tree_of
from slaverify.contract.library import LIBRARY, ReadyMetric
from slaverify.contract.loaded import LoadedContract, edited
from slaverify.contract.model.bank import EvaluationSet, Method, Policies, Repetitions
from slaverify.contract.model.engine import CitationMapping, Endpoint, Engine, MappedField, Pattern, Regex
from slaverify.contract.model.identity import Parties, Party
from slaverify.contract.model.metrics import Derived, Extend, Metric, Retest, VerdictRules
from slaverify.contract.model.report import Ledger, Report, Signature
from slaverify.contract.model.root import Contract
from slaverify.contract.model.scalars import instant
from slaverify.contract.model.terms import Remedies
from slaverify.contract.numbers import (
    JUDGE_FIELDS,
    bank_size,
    breach_level,
    derived_numbers,
    family_size,
    has_integers,
    judged_strata,
    metric_n,
    metric_strata,
    of_bank,
    rests_on_judge,
    sample_sizes,
    smallest_n,
    stages_of,
    success_rate,
    unequal_weights,
)
from slaverify.contract.ports import PartySignature, SignatureFinding, SignatureVerifier, Signer
from slaverify.contract.profiles import HOSTILE_STRATA, PROFILES
from slaverify.contract.words import OUTCOME_ATTRIBUTION, RUN_PATTERNS, Attribution, Outcome, Role

__all__ = [
    "FIELDS",
    "HOSTILE_STRATA",
    "JUDGE_FIELDS",
    "LIBRARY",
    "OUTCOME_ATTRIBUTION",
    "PROFILES",
    "RUN_PATTERNS",
    "Attribution",
    "CitationMapping",
    "Contract",
    "Derived",
    "Endpoint",
    "Engine",
    "EvaluationSet",
    "Extend",
    "Finding",
    "Ledger",
    "LoadedContract",
    "MappedField",
    "Method",
    "Metric",
    "Outcome",
    "Parties",
    "Party",
    "PartySignature",
    "Pattern",
    "Policies",
    "ReadyMetric",
    "Regex",
    "Remedies",
    "Repetitions",
    "Report",
    "Retest",
    "Role",
    "Signature",
    "SignatureFinding",
    "SignatureVerifier",
    "Signer",
    "VerdictRules",
    "bank_size",
    "breach_level",
    "completed",
    "contract_digest",
    "derived_numbers",
    "dotted",
    "edited",
    "family_size",
    "freeze",
    "has_integers",
    "instant",
    "judged_strata",
    "matches",
    "method_digest",
    "metric_n",
    "metric_strata",
    "of_bank",
    "regex_fault",
    "rests_on_judge",
    "run_id",
    "sample_sizes",
    "smallest_n",
    "stages_of",
    "success_rate",
    "tree_of",
    "unequal_weights",
]

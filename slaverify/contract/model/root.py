"""The whole tree of `contract/1`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from slaverify.contract.model.bank import EvaluationSet, Method, Repetitions
from slaverify.contract.model.engine import Endpoint, Engine
from slaverify.contract.model.identity import Identity, Parties, Scope
from slaverify.contract.model.judge import Judge
from slaverify.contract.model.metrics import FailedCalls, Metric, VerdictRules
from slaverify.contract.model.report import Ledger, Report
from slaverify.contract.model.scalars import Block, Words
from slaverify.contract.model.terms import Confidentiality, Disputes, Remedies, Schedule


class Contract(Block):
    """A contract; attribute names are the keys of the file (`from` is `from_`, `json` is `json_`)."""

    slaverify: Literal["contract/1"] = Field(description="Format", examples=["contract/1"])
    contract: Identity = Field(description="Identity and lifecycle")
    parties: Parties = Field(description="Parties")
    scope: Scope = Field(description="What the promise covers")
    limitations: tuple[Words, ...] = Field(default=(), description="Declared limitations")
    engine: Engine = Field(description="System under test")
    endpoint: Endpoint = Field(description="How it is called")
    evaluation_set: EvaluationSet = Field(description="What is asked")
    method: Method = Field(description="How it is scored")
    repetitions: Repetitions = Field(description="Calls per item")
    judge: Judge | None = Field(default=None, description="Independent judge; absent: none")
    metrics: tuple[Metric, ...] = Field(min_length=1, description="Promises")
    failed_calls: FailedCalls = Field(description="What failed calls count as")
    verdict: VerdictRules = Field(description="From states to one verdict")
    schedule: Schedule = Field(default=Schedule(), description="When")
    remedies: Remedies = Field(default=Remedies(), description="What a breach costs")
    disputes: Disputes = Field(default=Disputes(), description="Disputes")
    confidentiality: Confidentiality = Field(default=Confidentiality(), description="Confidentiality")
    report: Report = Field(description="What is issued")
    ledger: Ledger = Field(description="Where it is registered")

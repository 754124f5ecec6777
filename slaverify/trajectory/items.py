"""Questions as items of a bank: the public view is the query, the question contract the reference.

Source: docs/spec/trajectory.md, section "Items"; docs/spec/item.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slaverify.canonical import jcs
from slaverify.evalset import Item
from slaverify.evalset.item import Attachment
from slaverify.evalset.reference import TrajectoryReference
from slaverify.trajectory.public_view import public_view
from slaverify.trajectory.question import Question
from slaverify.trajectory.state_contract import StateContract

ATTACHMENT = "state_contract.json"


def question_items(
    contract: StateContract, questions: Sequence[Question], locale: str, nonce: bytes, new_id: Callable[[], str]
) -> tuple[Item, ...]:
    """Return the items of a set, sorted by id. `new_id` gives random ids; `nonce` is the set's (32 bytes)."""
    attachment = Attachment(
        name=ATTACHMENT, media_type="application/json", digest=contract.digest, size=len(contract.content)
    )
    items = [
        Item(
            schema_="item/1",
            id=new_id(),
            stratum=one.track.value,
            locale=locale,
            query=jcs(public_view(one, contract, locale)).decode("utf-8"),
            attachments=(attachment,),
            reference=TrajectoryReference(kind="trajectory", value=one.to_json()),
            cluster=one.root_event_id,
            ext={"set_nonce": nonce.hex()},
        )
        for one in questions
    ]
    return tuple(sorted(items, key=lambda item: item.id))

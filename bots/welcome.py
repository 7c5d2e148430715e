"""What the bot says when it meets somebody (spec page 6.3)."""

from collections import OrderedDict

from bots.abilities import TEAMS
from bots.cards import welcome_card
from bots.inbound import Inbound
from bots.reference import Activity
from bots.rendering import card_activity

REMEMBERED = 10_000
_GREETING = "Hello, I am Rounds: a team of agents for your patients, one patient at a time."


def welcome(patient_id_example: str) -> Activity:
    """Return a short welcome with three examples, each a button."""
    examples = (
        f"start tumor board for {patient_id_example}",
        "which patients have we discussed?",
        "clear patient context",
    )
    return card_activity(welcome_card(_GREETING, examples), summary=_GREETING)


class Greeter:
    """Says in which conversations a welcome is due: once in each, while this process runs."""

    def __init__(self) -> None:
        self._greeted: OrderedDict[str, None] = OrderedDict()

    def is_due(self, activity: Inbound) -> bool:
        """Tell whether `activity` brings somebody new, and remember its conversation."""
        place = activity.conversation
        if place is None or activity.recipient is None or not _brings_somebody(activity):
            return False
        key = f"{activity.channel_id}/{activity.recipient.id}/{place.id}"
        known = key in self._greeted
        self._greeted[key] = None
        if len(self._greeted) > REMEMBERED:
            self._greeted.popitem(last=False)
        return not known


def _brings_somebody(activity: Inbound) -> bool:
    bot = activity.recipient.id if activity.recipient is not None else None
    added = {member.id for member in activity.members_added or ()}
    # Teams adds the bot where it is installed; elsewhere the bot is added before the user comes.
    return bot in added if activity.channel_id == TEAMS else bool(added - {bot})

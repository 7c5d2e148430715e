"""The entities of one patient, as a part of the context document (spec page 2).

Models send only what changed. What the user wants is shared by all agents; what tools found
belongs to the agent that asked them.
"""

from collections.abc import Iterator, Mapping

from pydantic import Field

from data_models.document import Part
from data_models.entities.conversation_entities import ConversationEntitiesManager
from data_models.entities.derived_entities import AgentScopedDerivedEntitiesManager
from data_models.entities.entity_queue import Entity

ENTITIES_LIMIT_BYTES = 12_000


class Entities(Part):
    """Both managers.

    Attributes:
        last_delta: Name of the last delta after which something left, with the revisions it led
            to; so that the same delta changes nothing the second time (E20).
    """

    conversation: ConversationEntitiesManager = Field(default_factory=ConversationEntitiesManager)
    derived: AgentScopedDerivedEntitiesManager = Field(
        default_factory=AgentScopedDerivedEntitiesManager
    )
    last_delta: str = ""

    def queues(self) -> Iterator[tuple[str | None, Mapping[str, Entity]]]:
        """Yield each queue with its agent; what the user wants, which no agent owns, first."""
        yield None, self.conversation.entities
        yield from self.derived.agent_entities.items()

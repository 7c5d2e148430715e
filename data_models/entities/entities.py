"""The entities of one patient, as a part of the context document (spec page 2).

Models send only what changed. What the user wants is shared by all agents; what tools found
belongs to the agent that asked them.
"""

from pydantic import Field

from data_models.document import Part
from data_models.entities.conversation_entities import ConversationEntitiesManager
from data_models.entities.derived_entities import AgentScopedDerivedEntitiesManager

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

"""Which rows account for the words of a sentence that is supported. Pure."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from services.language.statements import Sentence
from services.statements.bounds import limits
from services.statements.known import KnownRows
from services.statements.subject import all_named, beside
from services.statements.unknown_prose import adds_unknown


def adds_beside(
    sentence: Sentence, sources: Sequence[str], known: KnownRows, own_names: AbstractSet[str]
) -> bool:
    """Whether a sentence says more than the rows on `sources` and those beside them."""
    clauses = sentence.clauses
    named = {name for one in clauses for name in one.names}
    cited = [row for ref in sources for row in known.by_source(ref)]
    rows = [row for row in cited if not named or not named.isdisjoint(row.words)]
    rows += [row for one in clauses for row in known.about(one.names) if row.is_text]
    rows += beside(rows, known, named)
    goals = [row for name in named for row in known.about([name]) if row.kind == "goal"]
    rows += [row for row in goals if limits(sentence, row)]
    topics = {topic for one in clauses if one.quantities for topic in one.topics}
    rows += [row for one in topics for row in known.about([one]) if row.kind == "procedure"]
    rows += [row for row in known.personal if row.kind != "personal" or named & row.words]
    if not adds_unknown(sentence, rows, own_names):
        return False
    return adds_unknown(sentence, [*rows, *all_named(known, named)], own_names)

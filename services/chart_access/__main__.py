"""`python -m services.chart_access list` and `review GRANT --by NAME --justified yes|no`.

Charts that were opened in an emergency. Exit 0 done, 1 some wait for a review, 2 not possible.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError
from services.audit.trail import AuditTrail, record_access
from services.chart_access.break_glass import BreakGlass, Grant
from services.replica import Replica
from services.stores import AUDIT, USERS, open_container
from settings import load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.chart_access", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="emergencies, those without a review first")
    review = commands.add_parser("review", help="write down what was found")
    review.add_argument("grant")
    review.add_argument("--by", required=True, help="who reviews; not who opened the chart")
    review.add_argument("--justified", choices=("yes", "no"), required=True)
    review.add_argument("--note", default="")
    try:
        return asyncio.run(_run(parser.parse_args(arguments)))
    except RoundsError as error:
        sys.stderr.write(f"{error}\n")
        return 2


async def _run(chosen: argparse.Namespace) -> int:
    settings, ids, clock = load_settings(), RandomIds(), SystemClock()
    users, audit = (open_container(settings, name, ids=ids) for name in (USERS, AUDIT))
    glass = BreakGlass(store=users, clock=clock, ids=ids, minutes=settings.break_glass_minutes)
    trail = AuditTrail(store=audit, replica=Replica().label, clock=clock)
    try:
        if chosen.command == "review":
            grant = await glass.review(
                chosen.grant, by=chosen.by, is_justified=chosen.justified == "yes", note=chosen.note
            )
            await record_access(
                trail,
                chosen.by,
                "review_emergency",
                conversation=grant.conversation_id,
                patient=grant.patient_id,
                outcome="done",
            )
        grants = await glass.all()
    finally:
        await trail.close()
        await users.close()
        await audit.close()
    sys.stdout.write("".join(map(_line, grants)) or "No chart was opened in an emergency.\n")
    return int(any(one.review is None for one in grants))


def _line(grant: Grant) -> str:
    review = grant.review
    state = "waits for a review"
    if review is not None:
        state = f"{'justified' if review.is_justified else 'NOT justified'}, by {review.by}"
    when = f"{grant.granted_at:%Y-%m-%d %H:%M} UTC"
    return (
        f"{grant.grant_id} {when} {grant.principal} {grant.patient_id} [{state}] {grant.reason}\n"
    )


if __name__ == "__main__":
    sys.exit(main())

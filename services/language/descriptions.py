"""Somebody described rather than named: "the violin teacher", "the man from this morning". Pure."""

from collections.abc import Sequence

from services.language.people_words import people_words


def describes_somebody(folds: Sequence[str]) -> bool:
    """Whether the words describe somebody: an article, up to three words, and a kind of person."""
    known = people_words()
    for at, one in enumerate(folds):
        if one in known.titles_of_patients and _describes_patient(folds, at):
            return True
        if one not in known.people or at == 0:
            continue
        article = next(
            (
                place
                for place in range(at - 1, max(at - 4, -1), -1)
                if folds[place] in known.definite
            ),
            None,
        )
        if article is None:
            continue
        behind = folds[at + 1] if at + 1 < len(folds) else ""
        has_more = at - article > 1
        moves = article > 0 and folds[article - 1] in known.moves_on
        ends = not behind or behind in known.lingers
        if behind in known.described_by | known.told_apart_by or (
            has_more and (moves or ends or article == 0)
        ):
            return True
    return False


def _describes_patient(folds: Sequence[str], at: int) -> bool:
    """Whether "patient" stands with words that tell one from another: "the breast cancer patient".

    "The patient" alone, and "the current patient", are the open one.
    """
    known = people_words()
    article = next(
        (i for i in range(at - 1, max(at - 5, -1), -1) if folds[i] in known.definite), -1
    )
    if article < 0:
        return False
    between = folds[article + 1 : at]
    before, behind = folds[article - 1 : article], [*folds[at + 1 : at + 3], "", ""]
    moves = not before or before[0] in known.moves_on
    if not between:
        is_told_apart = behind[0] in known.described_by | known.told_apart_by
        has_place = behind[1] in known.places | known.staff
        # "The patient in pain" may be the open one; "the patient with the fall" begins anew.
        begins = moves and (bool(before) or behind[0] not in known.vague_places)
        return is_told_apart and (has_place or begins)
    if any(one in known.plain_patients for one in between):
        return False
    return moves or not behind[0] or behind[0] in known.lingers

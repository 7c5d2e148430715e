"""Where what a model thinks aloud ends, and an answer without it. Pure."""

from services.language.model_output.model_tags import tag_at

MESSAGE = "<|message|>"


def without_thoughts(text: str) -> str:
    """Return a whole answer without what the model thought aloud."""
    shown, at, has_thought = "", 0, False
    while (tag := tag_at(text, at)) is not None:
        is_channel = tag.name == "channel"
        head, _, _ = text[tag.end :].partition(MESSAGE)
        if tag.meaning == "thought" and tag.closes:
            # The first end is of what the template opened; one more ends nothing.
            shown, at = shown + text[at : tag.start] if has_thought else "", tag.end
            has_thought = True
        elif tag.meaning == "thought" or (is_channel and "final" not in head):
            shown += text[at : tag.start]
            at, has_thought = thought_end(text, tag.end) or len(text), True
        else:
            shown += text[at : tag.start if is_channel else tag.end]
            at = min(tag.end + len(head) + len(MESSAGE), len(text)) if is_channel else tag.end
    return shown + text[at:]


def thought_end(text: str, at: int) -> int | None:
    """Return where a thought ends: behind its mark, or before the next channel."""
    while (tag := tag_at(text, at)) is not None:
        if tag.name == "channel":
            return tag.start
        if tag.meaning == "thought" and tag.closes:
            return tag.end
        at = tag.end
    return None

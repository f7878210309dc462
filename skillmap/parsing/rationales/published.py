"""The published parser's reading of a rationale, for comparison with ours only."""

_LEAST_LENGTH = 5


def paper_parity_mentions(text: str) -> list[tuple[str, int, int]]:
    r"""Skill mentions as the skill-slices pipeline reads them, its losses included.

    Plural labels, conclusions that hold the word skill, steps without a blank line
    between, CRLF, short names, semicolons and thousands marks all go wrong, on
    purpose: the published tables were made so.

    Args:
        text: The rationale.

    Returns:
        Lower-cased name, start and end of its block, in reading order; offsets are
        into the lower-cased text, which for a few letters (such as "İ") is longer
        than the original.

    Source:
        Skill-slices (arXiv 2410.13826), its pipeline's parsing rules.

    Examples:
        >>> paper_parity_mentions("**Skills:** Knowledge: a, b")
        [('s knowledge', 0, 27), ('a', 0, 27), ('b', 0, 27)]
    """
    mentions: list[tuple[str, int, int]] = []
    start = 0
    for block in text.lower().split("\n\n"):
        end = start + len(block)
        mentions.extend((name, start, end) for name in _names(block))
        start = end + len("\n\n")
    return mentions


def _names(block: str) -> list[str]:
    _, label, after = block.rpartition("skill")
    if not label:
        return []
    line = after.split("\n", 1)[0]
    for marker in (":**", "**:", "**"):
        line = line.replace(marker, "")
    line = line.replace(":", ",").replace(" -", ",")
    if len(line) < _LEAST_LENGTH:
        return []
    return [name for part in line.split(",") if (name := part.strip())]

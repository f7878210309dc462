"""Numbers and names as a reader sees them; what is missing stays visibly missing."""

import math

MISSING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_NO_BREAK = "\N{NO-BREAK SPACE}"
_LEAST_SHOWN = 0.001


def is_missing(value: float | None) -> bool:
    """Whether there is no number: None or NaN, which are never shown as 0."""
    return value is None or math.isnan(value)


def count_text(value: int | None) -> str:
    """A count with thousands separated, or a dash where it is unknown.

    Examples:
        >>> count_text(14042), count_text(None) == MISSING
        ('14,042', True)
    """
    return MISSING if value is None else f"{value:,}"


def fraction_text(value: float | None) -> str:
    """A fraction to three decimals, or a dash where it is unknown.

    Examples:
        >>> fraction_text(0.68908), fraction_text(float("nan")) == MISSING
        ('0.689', True)
    """
    if value is None or math.isnan(value):
        return MISSING
    return _plain(f"{value:.3f}")


def signed_text(value: float | None, *, n_decimals: int = 3) -> str:
    """A difference with its sign; 0 has none.

    Examples:
        >>> signed_text(0.0312), signed_text(-0.0001), signed_text(None) == MISSING
        ('+0.031', '0.000', True)
    """
    if value is None or math.isnan(value):
        return MISSING
    text = _plain(f"{value:+.{n_decimals}f}")
    is_zero = float(text.replace(_MINUS, "-")) == 0
    return text[1:] if is_zero else text


def estimate_text(
    value: float | None, low: float | None, high: float | None, *, is_signed: bool
) -> str:
    r"""A value and its interval, or a dash where the value is unknown.

    Examples:
        >>> estimate_text(0.5, 0.25, 0.75, is_signed=False)
        '0.500 [0.250,\xa00.750]'
    """
    if is_missing(value):
        return MISSING
    text = signed_text if is_signed else fraction_text
    return f"{text(value)} {interval_text(low, high, is_signed=is_signed)}"


def interval_text(low: float | None, high: float | None, *, is_signed: bool) -> str:
    """Both bounds in brackets, or a dash where they are unknown."""
    if is_missing(low) or is_missing(high):
        return MISSING
    text = signed_text if is_signed else fraction_text
    return f"[{text(low)},{_NO_BREAK}{text(high)}]"


def amount_text(value: float | None) -> str:
    """A positive amount to three digits, never as a power of ten.

    Examples:
        >>> amount_text(0.000151234), amount_text(1234.5), amount_text(None) == MISSING
        ('0.000151', '1,234', True)
    """
    if value is None or math.isnan(value):
        return MISSING
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:,.{max(0, 2 - magnitude)}f}"
    return _plain(text.rstrip("0").rstrip(".") if "." in text else text)


def probability_text(value: float | None) -> str:
    """A p or q value to three decimals; one too small for them is never 0.

    Examples:
        >>> probability_text(0.0412), probability_text(0.0002)
        ('0.041', '< 0.001')
    """
    if value is not None and value < _LEAST_SHOWN:
        return f"< {_LEAST_SHOWN}"
    return fraction_text(value)


def cut(text: str, n_characters: int) -> str:
    """The text in one line, shortened with an ellipsis where it is longer.

    Examples:
        >>> cut("long  division", 6)
        'long …'
    """
    line = " ".join(text.split())
    return line if len(line) <= n_characters else line[: n_characters - 1] + "…"


def cut_within(text: str, n_characters: int) -> str:
    """The text shortened within, so that names that differ in their ends still do.

    Examples:
        >>> cut_within("applying long division (broad)", 16)
        'applying l…road)'
        >>> cut_within("division", 16)
        'division'
    """
    line = " ".join(text.split())
    n_end = n_characters // 3
    return (
        line
        if len(line) <= n_characters
        else f"{line[: n_characters - 1 - n_end].rstrip()}…{line[-n_end:]}"
    )


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun.

    Examples:
        >>> counted(1, "model"), counted(1200, "model"), counted(2, "is", "are")
        ('1 model', '1,200 models', '2 are')
    """
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def n_text(n_items: int) -> str:
    r"""The number of items behind a value, kept on one line.

    Examples:
        >>> n_text(1319)
        'n\xa01,319'
    """
    return f"n{_NO_BREAK}{n_items:,}"


def not_shown(n_shown: int, n_all: int, noun: str) -> str:
    """A sentence on what was left out of a table or plot; empty if nothing was."""
    if n_shown >= n_all:
        return ""
    return f"{n_shown:,} of {n_all:,} {noun} shown, {n_all - n_shown:,} not shown."


def _plain(text: str) -> str:
    return text.replace("-", _MINUS)

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skillmap.calls import Call, Image, Message, Parameters, Structure

TEXTS = st.text(max_size=5)
IMAGES = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), TEXTS)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant"]),
    TEXTS,
    st.lists(IMAGES, max_size=2).map(tuple),
)
PARAMETERS = st.builds(
    Parameters,
    st.integers(1, 3),
    st.sampled_from([None, 0.0, 0.7]),
    st.sampled_from([None, 0.9]),
    st.sampled_from([None, 0, 1]),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(st.tuples(TEXTS, TEXTS), max_size=1).map(tuple),
)
CALLS = st.builds(
    Call,
    TEXTS,
    TEXTS,
    st.lists(MESSAGES, max_size=2).map(tuple),
    PARAMETERS,
    st.none() | TEXTS,
    st.none() | st.builds(Structure, TEXTS, TEXTS),
    st.integers(0, 2),
    TEXTS,
)


@given(CALLS, CALLS)
def test_keys_are_equal_exactly_when_calls_are(one: Call, other: Call) -> None:
    assert (one.key == other.key) == (one == other)


@given(CALLS, TEXTS)
def test_what_a_call_is_about_changes_nothing(one: Call, about: str) -> None:
    assert replace(one, about=about).key == one.key


@given(CALLS)
def test_each_part_of_a_call_changes_its_key(one: Call) -> None:
    parameters = one.parameters
    others = [
        replace(one, model=one.model + "x"),
        replace(one, served_name=one.served_name + "x"),
        replace(one, revision=(one.revision or "") + "x"),
        replace(one, epoch=one.epoch + 1),
        replace(one, messages=(*one.messages, Message("user", ""))),
        replace(one, structure=Structure("longer than any", "{}")),
        replace(one, parameters=replace(parameters, temperature=1.5)),
        replace(one, parameters=replace(parameters, max_tokens=99)),
        replace(one, parameters=replace(parameters, stop=(*parameters.stop, "x"))),
    ]

    assert len({one.key, *(other.key for other in others)}) == len(others) + 1


def test_a_key_stays_the_same_over_releases() -> None:
    one = Call("m", "m", (Message("user", "Why?"),), Parameters(16))

    # A change of this makes every call of every log anew: it is never wanted.
    assert one.key == (
        "7e1e47291040f2e9383129cc1b10ed4bb4566ca8c7d3b5e0785c26827d32ed91"
    )

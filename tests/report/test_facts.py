import pytest

from skillmap.report.facts import QUERIES, facts, one_line, sql_of
from tests.report.published import Published, two_models


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_in_one_line_gives_the_same_rows(name: str) -> None:
    published = two_models()

    line = one_line(name)

    assert "\n" not in line
    assert published.query(line).equals(published.query(sql_of(name)))


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_says_what_it_gives(name: str) -> None:
    assert sql_of(name).startswith("-- ")


def test_nothing_published_gives_empty_frames() -> None:
    found = facts(Published().query)

    assert set(found.totals.values()) == {0}
    assert found.accuracy.is_empty()
    assert found.disagreements.is_empty()


def test_totals_count_what_was_added() -> None:
    found = facts(two_models().query)

    wanted = ("n_benchmarks", "n_models", "n_items", "n_results", "n_slices")
    assert [found.totals[name] for name in wanted] == [1, 2, 20, 40, 2]


def test_a_pair_of_models_has_the_paired_interval_on_all_common_items() -> None:
    row = facts(two_models().query).pair_totals.row(0, named=True)

    # Ten items only the first gets, none only the second, of 20; half an item more
    # of each: Agresti and Min (2005), section 2.
    centre, half = 10 / 22, 1.959964 * (11 - 10**2 / 22) ** 0.5 / 22
    assert (row["n_items"], row["difference"]) == (20, 0.5)
    assert row["difference_low"] == pytest.approx(centre - half)
    assert row["difference_high"] == pytest.approx(centre + half)


def test_disagreements_are_of_the_clearest_pair_with_the_better_model_first() -> None:
    rows = facts(two_models().query).disagreements

    assert rows["better_model"].unique().to_list() == ["able"]
    assert rows.filter("is_won_by_better")["item_id"].to_list() == [
        "quiz:0",
        "quiz:10",
        "quiz:12",
        "quiz:14",
    ]

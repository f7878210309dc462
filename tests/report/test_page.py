import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest

from skillmap.contracts import core, mart, raw
from skillmap.report import html_report
from tests.report.published import (
    Published,
    add_benchmark,
    add_contrasts,
    add_models,
    add_readings,
    add_results,
    add_routing,
    add_slice,
    two_models,
)

_VOID = {"meta", "link", "br", "hr", "img", "input"}
_HOSTILE = "</script></style><script>alert(1)</script><img src=x onerror='alert(2)'>\""


class Page(HTMLParser):
    """What a browser would find in the page; fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        """Attributes of every such tag."""
        return [attributes for tag, attributes in self.tags if tag in tags]

    def values(self, *names: str) -> list[str]:
        """Values of every such attribute."""
        found = [attributes.get(name) for _, attributes in self.tags for name in names]
        return [value for value in found if value is not None]


def cells_of(text: str, table: str) -> list[list[str]]:
    """Texts of a table's body, row by row."""
    body = text.split(f'id="table-{table}"')[1].split("<tbody>")[1]
    rows = body.split("</tbody>")[0].split("<tr>")[1:]
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]


def hostile() -> Published:
    """Two models, and a text that wants to be markup wherever a text can be."""
    published = Published()
    benchmark, models = f"b{_HOSTILE}", [f"1{_HOSTILE}", f"2{_HOSTILE}"]
    items = add_benchmark(published, benchmark, [_HOSTILE, None, "plain", "plain"])
    add_models(published, models)
    add_results(published, benchmark, models[0], dict.fromkeys(items, "correct"))
    add_results(published, benchmark, models[1], dict.fromkeys(items, "wrong"))
    add_slice(published, _HOSTILE, items)
    published.add(
        raw.REJECTS,
        [{"benchmark_id": benchmark, "reason": _HOSTILE, "value": _HOSTILE}],
    )
    published.add(
        core.RATIONALES,
        [
            {
                "rationale_id": "r",
                "benchmark_id": benchmark,
                "item_id": items[0],
                "annotator": _HOSTILE,
                "parse_status": "parsed_with_faults",
                "faults": [_HOSTILE],
            }
        ],
    )
    published.make_marts()
    names = {"model_a": models[0], "model_b": models[1]}
    add_contrasts(published, [{"slice_name": _HOSTILE, **names}])
    add_routing(published, {_HOSTILE: (0.1, 0.0, 0.2)}, models=[_HOSTILE, "b"])
    add_readings(published, {models[0]: (0.5, 0.4), models[1]: (0.4, 0.5)})
    gain = {"slice_name": _HOSTILE, "model_id": _HOSTILE, "n_items": 1}
    published.add(mart.SLICE_GAINS, [gain])
    return published


def many_models(n_models: int, n_slices: int) -> Published:
    """Models that are each right on another part of ten items a slice."""
    published = Published()
    questions = [f"question {n}" for n in range(10 * n_slices)]
    items = add_benchmark(published, "wide", questions)
    models = [f"model {n:02}" for n in range(n_models)]
    add_models(published, models)
    for number, model in enumerate(models):
        outcomes = {
            item: "correct" if (place * 7 + number * 3) % 11 < 6 else "wrong"
            for place, item in enumerate(items)
        }
        add_results(published, "wide", model, outcomes)
    for number in range(n_slices):
        add_slice(published, f"skill {number}", items[10 * number : 10 * number + 10])
    published.make_marts()
    return published


def test_the_page_refers_to_nothing_outside_itself() -> None:
    text = html_report(two_models().query)

    page = Page(text)
    targets = page.values("src", "href", "srcset", "action", "data", "poster")
    assert {target[:1] for target in targets} == {"#"}
    assert not page.of("link", "iframe", "object", "embed", "base", "img")
    assert not re.search(r"https?:|@import|url\((?!#)", text)


def test_every_target_within_the_page_is_there_once() -> None:
    page = Page(html_report(two_models().query))

    names = page.values("id")
    assert len(names) == len(set(names))
    assert {target[1:] for target in page.values("href")} <= set(names)


def test_accuracies_have_their_n_and_their_wilson_interval() -> None:
    text = html_report(two_models().query)

    bounds = binomtest(10, 20).proportion_ci(method="wilson")
    interval = f"[{bounds.low:.3f},\xa0{bounds.high:.3f}]"
    rows = {row[1]: row[2:7] for row in cells_of(text, "accuracy")}
    assert rows["lost"] == ["20", "0.500", interval, "0.250", "0"]
    assert f"0.500 {interval} n\xa020" in text


def test_a_slice_is_compared_with_what_the_model_gets_on_its_mix() -> None:
    rows = cells_of(html_report(two_models().query), "slices")

    # All ten of the even items wrong, of a model right on half of its benchmark.
    bounds = binomtest(0, 10).proportion_ci(method="wilson")
    high = f"\N{MINUS SIGN}{0.5 - bounds.high:.3f}"
    lost = next(row for row in rows if row[:2] == ["lost", "even numbers"])
    assert lost[2:4] == ["10", "0.000"]
    assert lost[5:] == [
        "0.500",
        "\N{MINUS SIGN}0.500",
        f"[\N{MINUS SIGN}0.500,\xa0{high}]",
    ]


def test_two_models_are_compared_with_the_better_one_first() -> None:
    rows = cells_of(html_report(two_models().query), "pairs")

    assert [row[:4] for row in rows] == [
        ["able", "lost", "even numbers", "10"],
        ["able", "lost", "all numbers", "20"],
    ]
    assert [row[6] for row in rows] == ["+1.000", "+0.500"]


def test_pairs_to_select_from_are_the_same_numbers() -> None:
    text = html_report(two_models().query)

    source = re.search(r'id="pair-data">(.*?)</script>', text)
    assert source is not None
    data = json.loads(source[1])
    assert (data["models"], data["start"]) == (["able", "lost"], [0, 1])
    named = [
        [data["slices"][place], *numbers[:4]]
        for place, *numbers in data["pairs"]["0,1"]
    ]
    assert named == [
        ["even numbers", 10, 1.0, 0.0, 1.0],
        ["all numbers", 20, 1.0, 0.5, 0.5],
    ]


def test_the_same_content_gives_the_same_bytes() -> None:
    published = two_models()

    assert html_report(published.query) == html_report(published.query)


@pytest.mark.slow
def test_the_bytes_depend_neither_on_the_hash_seed_nor_on_threads() -> None:
    program = (
        "import hashlib; from skillmap.report import html_report;"
        "from tests.report.published import two_models; p = two_models();"
        "p.connection.execute('set threads = {n}');"
        "print(hashlib.sha256(html_report(p.query).encode()).hexdigest())"
    )
    root = Path(__file__).parents[2]

    # On a busy machine DuckDB may draw a progress bar before the digest.
    digests = {
        subprocess.run(
            [sys.executable, "-c", program.format(n=n)],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        )
        .stdout[-65:]
        .strip()
        for n, seed in ((1, "0"), (4, "99"))
    }

    here = html_report(two_models().query)
    assert digests == {hashlib.sha256(here.encode()).hexdigest()}


def test_rows_in_another_order_give_the_same_bytes() -> None:
    published, reversed_ = two_models(), two_models()
    for table in (core.SCORES, core.ITEMS, core.SLICE_ITEMS, core.SLICES, core.MODELS):
        rows = reversed_.query(f"select * from {table}")
        reversed_.connection.execute(f"delete from {table}")
        reversed_.add(table, rows.reverse())

    assert html_report(published.query) == html_report(reversed_.query)


def test_nothing_published_gives_a_page_that_says_so() -> None:
    text = html_report(Published().query)

    page = Page(text)
    assert not page.of("svg")
    assert "No results yet" in text
    assert "No slice yet" in text
    assert "Nothing was found missing" in text


def test_items_without_results_give_a_page_that_says_so() -> None:
    published = Published()
    add_benchmark(published, "quiz", ["one", "two"])

    text = html_report(published.query)

    assert Page(text)
    assert "for 1 benchmark (quiz)" in text
    assert "No model has a result yet." in text


def test_results_without_slices_give_accuracies_and_say_that_slices_lack() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", ["one", "two"])
    add_models(published, ["able"])
    add_results(published, "quiz", "able", dict.fromkeys(items, "correct"))
    published.make_marts()

    text = html_report(published.query)

    assert len(Page(text).of("svg")) == 1
    assert "No slice has a result yet." in text
    assert "No two models have common items in a slice." in text


def test_a_model_of_which_no_item_counts_is_missing_and_not_0() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", ["one", "two"])
    add_models(published, ["able", "down"])
    add_results(published, "quiz", "able", dict.fromkeys(items, "correct"))
    add_results(published, "quiz", "down", dict.fromkeys(items, "error"))
    published.make_marts()

    text = html_report(published.query)

    rows = {row[1]: row[2:] for row in cells_of(text, "accuracy")}
    # No item counts, both are left out, and nothing else is known of them.
    assert rows["down"][:4] == ["0", *"\N{EN DASH}" * 3]
    assert rows["down"][8] == "2"
    assert "No item counts:</strong> in 1 cell (down on quiz)" in text


def test_unparsed_and_unsupported_answers_are_told() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", ["one", "two", "three", "four"])
    add_models(published, ["vague"])
    outcomes = dict.fromkeys(items[:3], "correct") | {items[3]: "unparsed"}
    columns = {"is_prediction_in_response": False, "is_drifted": True}
    add_results(published, "quiz", "vague", outcomes, **columns)
    published.make_marts()

    text = html_report(published.query)

    row = cells_of(text, "suspicions")[0]
    bounds = binomtest(3, 3).proportion_ci(method="wilson")
    assert row[:5] == ["quiz", "vague", "4", "4", "1"]
    assert row[7:] == ["3", "1.000", f"[{bounds.low:.3f},\xa01.000]"]
    for lead in ("answers unparsed:", "nowhere in the response:", "current release:"):
        assert f"{lead}</strong> in 1 cell (vague on quiz)" in text


def test_results_worse_than_guessing_are_told() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", [f"question {n}" for n in range(40)])
    add_models(published, ["unlucky"])
    add_results(published, "quiz", "unlucky", dict.fromkeys(items, "wrong"))
    published.make_marts()

    text = html_report(published.query)

    # 0 of 40 has an upper bound of 0.088, where chance is 0.25.
    expected = "Worse than guessing:</strong> the whole interval of 1 cell"
    assert expected in text


def test_releases_and_duplicates_across_benchmarks_are_told() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", ["one", "two"])
    twins = add_benchmark(published, "exam", ["one", "three"])
    groups = [
        {"item_id": i, "benchmark_id": i.split(":")[0], "group_id": "g"}
        for i in (items[0], twins[0])
    ]
    published.add(
        core.ITEM_GROUPS,
        [{**row, "kind": "exact", "n_group_items": 2} for row in groups],
    )
    other = {"benchmark_id": "quiz", "release_id": "r0", "n_drifted_items": 1}
    published.add(core.BENCHMARKS, [other])

    text = html_report(published.query)

    assert "Shared questions:</strong> 1 duplicate group across" in text
    assert "sources of 1 benchmark state other" in text
    assert cells_of(text, "duplicates") == [
        ["exam + quiz", "exact", "across", "1", "2", "2"]
    ]
    rows = [[row[1], row[2], row[4]] for row in cells_of(text, "releases")[1:]]
    assert rows == [["r1", "yes", "0"], ["r0", "no", "1"]]


def test_many_benchmarks_are_cut_at_a_glance_and_all_in_the_table() -> None:
    published = Published()
    add_models(published, ["able"])
    for number in range(14):
        items = add_benchmark(published, f"quiz {number:02}", ["one"])
        add_results(published, f"quiz {number:02}", "able", {items[0]: "correct"})
    published.make_marts()

    text = html_report(published.query)

    assert "2 more benchmarks, in the table below." in text
    assert len(cells_of(text, "accuracy")) == 14


def test_texts_from_the_data_are_never_markup() -> None:
    text = html_report(hostile().query, title=_HOSTILE)

    page = Page(text)
    assert len(page.of("script")) == 2
    assert not page.of("img")
    assert not [name for _, found in page.tags for name in found if name[:2] == "on"]
    assert any(_HOSTILE in piece for piece in page.texts)


def test_an_item_without_a_question_says_that_it_is_not_known() -> None:
    text = html_report(hostile().query)

    assert "Question not known." in text


def test_long_names_are_cut_with_the_whole_name_as_title() -> None:
    published = Published()
    items = add_benchmark(published, "quiz", ["one"])
    name = "very " * 60 + "long"
    add_models(published, [name])
    add_results(published, "quiz", name, dict.fromkeys(items, "correct"))
    published.make_marts()

    page = Page(html_report(published.query))

    assert name in page.values("title")
    assert max(len(piece) for piece in page.texts if "very very" in piece) < 310


def test_headings_are_in_order_and_tables_have_scopes() -> None:
    page = Page(html_report(two_models().query))

    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    steps = [after - before for before, after in pairwise(levels)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(steps) <= 1
    assert {found.get("scope") for found in page.of("th")} == {"col", "row"}


def test_every_plot_says_what_it_shows() -> None:
    plots = Page(html_report(two_models().query)).of("svg")

    assert len(plots) == 4
    assert all(found["role"] == "img" and found["aria-label"] for found in plots)


def test_every_table_gives_a_query_that_runs() -> None:
    published = two_models()
    text = html_report(published.query)

    queries = [
        "".join(piece)
        for piece in re.findall(r"<code>((?:with|select).*?)</code>", text)
    ]

    assert len(queries) >= 12
    for query in queries:
        plain = query.replace("&gt;", ">").replace("&lt;", "<").replace("&#39;", "'")
        assert isinstance(published.query(plain), pl.DataFrame)


def test_many_models_and_slices_are_cut_and_the_page_says_so() -> None:
    text = html_report(many_models(44, 43).query)

    assert len(text.encode()) < 3_000_000
    assert "40 of 43 slices shown, 3 not shown." in text
    assert "24 of 44 models shown, 20 not shown." in text
    assert "40 of 44 models shown, 4 not shown." in text
    assert "33 slices between, not shown" in text
    assert "946 pairs of models" in text  # 44 · 43 / 2


def test_the_number_of_chance_findings_is_told() -> None:
    text = html_report(many_models(5, 40).query)

    assert "of 200 intervals here, about 10 would" in text


def test_a_browser_runs_the_script(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium, which is not installed")
    file = tmp_path / "report.html"
    file.write_text(html_report(two_models().query), encoding="utf-8")

    found = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            file.as_uri(),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout

    assert '<div id="chooser">' in found
    chosen = found.split('id="chosen"')[1].split("</table>")[0]
    assert ">+1.000<" in chosen
    assert '<button type="button">accuracy</button>' in found

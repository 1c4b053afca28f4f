"""A test of many cases runs each on one number of ranks; another on one of three and four."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.support.workers import FEW, without_most_sizes

SIZES = (1, 2, 3, 4)


def case(name: str, ranks: int, mark: str = "slow", other: str = "a") -> Any:
    return SimpleNamespace(
        nodeid=f"tests/test_x.py::{name}[{ranks}ranks-{other}]",
        fixturenames=["hosts", "ranks"],
        callspec=SimpleNamespace(params={"ranks": ranks}),
        get_closest_marker=lambda asked: object() if asked == mark else None,
    )


def test_each_test_of_one_case_keeps_three_or_four() -> None:
    items = [case(f"test_{k}", ranks) for k in range(200) for ranks in SIZES]
    kept = [item.callspec.params["ranks"] for item in without_most_sizes(items)]
    assert [kept.count(n) for n in (1, 2)] == [200, 200]
    assert kept.count(3) + kept.count(4) == 200
    assert 70 < kept.count(3) < 130


def test_each_of_many_cases_keeps_one_number_by_turns() -> None:
    items = [case("test_x", ranks, other=f"case{k}") for k in range(40) for ranks in SIZES]
    kept = without_most_sizes(items)
    assert len({item.nodeid.partition("ranks-")[2] for item in kept}) == len(kept) == 40
    sizes = [item.callspec.params["ranks"] for item in kept]
    assert [sizes.count(n) for n in SIZES] == [10] * 4
    even = [item.callspec.params["ranks"] for item in kept if item.nodeid[-2] in "02468"]
    assert {*even} == {*SIZES}  # no number goes with every other case
    few = [case("test_x", ranks, other=f"case{k}") for k in range(FEW - 1) for ranks in (1, 2)]
    assert without_most_sizes(few) == few


def test_what_is_timed_or_alone_is_kept() -> None:
    timed = [case("test_timed", ranks, "timed") for ranks in (3, 4)]
    alone = [case("test_chosen", 4), case("test_another", 3)]  # as under -k, or by their ids
    assert without_most_sizes(timed + alone) == timed + alone


def test_what_has_a_number_of_ranks_of_its_own_is_kept() -> None:
    items = [case(f"test_{k}", 3) for k in range(20)]
    for item in items:
        item.nodeid, item.callspec = item.nodeid.replace("3ranks", "1"), SimpleNamespace(params={"size": 1})
    assert without_most_sizes(items) == items


def test_the_choice_is_the_same_in_any_order() -> None:
    items = [case(f"test_{k}", ranks) for k in range(50) for ranks in (3, 4)]
    items += [case("test_x", ranks, other=f"case{k}") for k in range(9) for ranks in SIZES]
    names = {item.nodeid for item in without_most_sizes(items)}
    assert names == {item.nodeid for item in without_most_sizes(items[::-1])}

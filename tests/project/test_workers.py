"""Of a test on three and on four ranks one case runs; which, follows from its name alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.support.workers import one_of_three_and_four


def case(name: str, ranks: int, mark: str = "slow") -> Any:
    return SimpleNamespace(
        nodeid=f"tests/test_x.py::{name}[{ranks}ranks-a]",
        fixturenames=["hosts", "ranks"],
        callspec=SimpleNamespace(params={"ranks": ranks}),
        get_closest_marker=lambda asked: object() if asked == mark else None,
    )


def test_each_test_keeps_one_case_and_either_number_its_share() -> None:
    items = [case(f"test_{k}", ranks) for k in range(200) for ranks in (1, 2, 3, 4)]
    kept = [item.callspec.params["ranks"] for item in one_of_three_and_four(items)]
    assert [kept.count(n) for n in (1, 2)] == [200, 200]
    assert kept.count(3) + kept.count(4) == 200
    assert 70 < kept.count(3) < 130


def test_what_is_timed_or_alone_is_kept() -> None:
    timed = [case("test_timed", ranks, "timed") for ranks in (3, 4)]
    alone = [case("test_chosen", 4), case("test_another", 3)]  # as under -k, or by their ids
    assert one_of_three_and_four(timed + alone) == timed + alone


def test_what_has_a_number_of_ranks_of_its_own_is_kept() -> None:
    items = [case(f"test_{k}", 3) for k in range(20)]
    for item in items:
        item.nodeid, item.callspec = item.nodeid.replace("3ranks", "1"), SimpleNamespace(params={"size": 1})
    assert one_of_three_and_four(items) == items


def test_the_choice_is_the_same_in_any_order() -> None:
    items = [case(f"test_{k}", ranks) for k in range(50) for ranks in (3, 4)]
    names = {item.nodeid for item in one_of_three_and_four(items)}
    assert names == {item.nodeid for item in one_of_three_and_four(items[::-1])}

"""The page docs/inputs.md has a row for every report that a test names, and no other."""

from __future__ import annotations

from tests.inputs import (
    test_cuts,
    test_factors,
    test_files,
    test_groups,
    test_ids,
    test_paths,
    test_ranking,
    test_topics,
    test_triangles,
)
from tests.mpi.launcher import ROOT

MODULES = (
    test_cuts, test_factors, test_groups, test_ids, test_paths, test_ranking, test_topics, test_triangles,
)  # fmt: skip


def test_the_page_and_the_tests_name_the_same_reports() -> None:
    text = (ROOT / "docs" / "inputs.md").read_text()
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    rows = [cell for cell in cells if cell != "report" and not cell.startswith("---")]
    assert len(rows) == len(set(rows))
    tested = {row.reports for module in MODULES for row in module.INPUTS.values()}
    tested |= {row.reports for row in test_files.FILES.values()}
    assert set(rows) == tested

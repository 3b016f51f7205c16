"""The combinations that stand for a full product hold every pair of values, are few and always the same."""

from itertools import combinations, product

import pytest
from covering import covering, pairs_of

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("extents", [(12, 2, 3, 5), (21, 3, 4), (2, 2, 2, 2, 2, 2), (4,), (3, 7)])
def test_products(extents: tuple[int, ...]) -> None:
    rows = [list(enumerate(row)) for row in product(*map(range, extents))]
    chosen = covering(rows)
    held = set().union(*(pairs_of(rows[i]) for i in chosen))
    wanted = {
        frozenset([(i, a), (j, b)])
        for i, j in combinations(range(len(extents)), 2)
        for a, b in product(range(extents[i]), range(extents[j]))
    }
    assert wanted <= held
    largest = sorted(extents)[-2:]
    fewest = largest[0] * largest[-1] if len(extents) > 1 else extents[0]
    assert fewest <= len(chosen) <= 2 * fewest
    assert chosen == covering(rows)
    assert chosen == sorted(set(chosen))


def test_what_never_occurs_together_is_not_asked_for() -> None:
    assert covering(["ab", "bc", "abc", "d"]) == [2, 3]
    assert covering(["ab", "bc", "abc", "d"], pinned=[0]) == [0, 2, 3]
    assert covering([]) == []


def test_tests_of_three_parameters(pytester: pytest.Pytester, request: pytest.FixtureRequest) -> None:
    source = request.config.rootpath / "tests"
    pytester.makeconftest((source / "conftest.py").read_text())
    pytester.makepyfile(
        test_it="""
        import pytest
        three = [pytest.mark.parametrize(name, range(4)) for name in "abc"]

        @three[0]
        @three[1]
        @three[2]
        def test_product(a, b, c): pass

        @three[0]
        @three[1]
        def test_pairs(a, b): pass
        """
    )
    few = pytester.runpytest("-q").parseoutcomes()
    assert few["passed"] + few["deselected"] == 64 + 16
    assert 16 + 16 <= few["passed"] <= 32 + 16
    assert pytester.runpytest("-q", "--full-product").parseoutcomes() == {"passed": 64 + 16}
    assert pytester.runpytest("-q", "test_it.py::test_product[1-2-3]").parseoutcomes() == {"passed": 1}

"""docs/numerics.md is what numerics.py makes of the measurements that are kept."""

from numerics import PAGE, kept, page


def test_the_page_is_made_of_the_measurements() -> None:
    assert PAGE.read_text() == page(kept()), "run tests/conformance/numerics.py"

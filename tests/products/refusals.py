"""What calls say when they refuse something."""

from typing import Any

import pytest


def refusal(error: type[Exception], call: Any) -> str:
    """The message of the error, which the call must raise."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)

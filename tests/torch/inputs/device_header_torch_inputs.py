"""Inputs of the tests of specs/device_header.kf.json in PyTorch."""

#: So that a call writes to every element of a tensor that has a gradient.
extents = {"stored": {"u": 3}}

outputs: dict[str, list[str]] = {"viewed": []}

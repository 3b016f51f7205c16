"""Inputs of the tests of specs/tensors.kf.json in PyTorch."""

#: So that a call writes to every element of a tensor that has a gradient.
extents = {"process_inplace": {"u": 3}}

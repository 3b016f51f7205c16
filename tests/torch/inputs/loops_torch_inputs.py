"""Inputs of the tests of specs/loops.kf.json in PyTorch."""

extents = {"layer": {"u": 3, "v": 8}}

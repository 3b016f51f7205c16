"""Inputs of the tests of specs/reports.kf.json in PyTorch."""

outputs: dict[str, list[str]] = {"view_pick": []}

left_out = {"put": "two of its calls may write one element"}

"""Inputs of the tests of specs/views.kf.json in PyTorch."""

outputs: dict[str, list[str]] = {
    "at_both": [],
    "square": ["output"],
    "wide_square": ["output"],
    "once": ["out"],
    "through": ["between", "out"],
    "box": [],
    "product": [],
    "by_extension": ["out"],
    "dense": [],
    "largest": [],
    "chosen": [],
    "render": ["image"],
    "render_views": ["image"],
    "select": [],
}

#: So that calls write to every element, and layers have what the functions look for.
extents = {
    "square": {"u": 3},
    "wide_square": {"u": 3},
    "through": {"u": 3},
    "once": {"u": 3, "v": 2},
    "by_extension": {"u": 3, "v": 2},
    "dense": {"u": 3},
    "render": {"i": 4, "u": 4, "v": 4},
    "render_views": {"i": 4, "u": 4, "v": 4},
}

#: They load what they have stored, and change more than they add.
other_derivatives = {"through", "product"}

left_out = {"by_extension": "it reads beside its own element"}

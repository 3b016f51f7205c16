"""What tests of specs/accumulate.kf.json in PyTorch can't be given."""

left_out = {"ten": "by default it refuses to combine what its calls give"}

"""What tests of specs/neural.kf.json in PyTorch can't be given."""

left_out = {"infer": "it takes an address as a number", "train": "it takes addresses as numbers"}

"""What tests of specs/names.kf.json in PyTorch can't be given."""

left_out = {"apart": "its struct's fields have the names of a class's own attributes"}

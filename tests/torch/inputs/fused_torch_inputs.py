"""What tests of specs/fused.kf.json in PyTorch can't compare with differences."""

other_derivatives = {"given"}

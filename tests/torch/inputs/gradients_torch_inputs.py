"""What tests of specs/gradients.kf.json in PyTorch can't compare with differences."""

other_derivatives = {"squashed", "twice_rough"}

"""What tests of specs/jvp.kf.json in PyTorch can't compare with differences."""

other_derivatives = {"scaled"}

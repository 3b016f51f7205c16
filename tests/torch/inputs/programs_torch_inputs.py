"""What tests of specs/programs.kf.json in PyTorch can't compare with differences."""

#: Its last parameter goes into a no_diff one.
other_derivatives = {"f122"}

"""How long calls take on the GPU: kf.profile()."""

from kernelfunctions._kf import Profile, ProfiledCall, profile

__all__ = ["Profile", "ProfiledCall", "profile"]

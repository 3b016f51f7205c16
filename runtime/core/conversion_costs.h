// What it costs an overload to take what is given. Costs of all arguments add up, and the least sum wins.
#pragma once

namespace kf::detail {

// An element type that is exactly what is given costs 0, and so does a number as the scalar that numbers
// become first: int, float, bool. Other scalars of the kind cost 1 to 6, the common ones least.

/// A whole number becomes a floating one.
inline constexpr int to_floating_cost = 20;
/// One number is all components of a vector.
inline constexpr int repeated_cost = 50;
/// A number is a pointer's address; what lies on the host becomes a tensor of rank 0.
inline constexpr int last_resort_cost = 100;
/// An extent that the binder will refuse, and says most about.
inline constexpr int wrong_extent_cost = 1000;
/// An object of another struct's class, which has the fields. Counts once, above any sum of the others.
inline constexpr int unlikely_cost = 1'000'000;

}  // namespace kf::detail

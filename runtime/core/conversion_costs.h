// What it costs an overload to take what is given. Costs of all arguments add up, and the least sum wins.
#pragma once

namespace kf::detail {

/// What a number costs as another scalar of its kind, 1 to 6 times, the common ones least. An element type
/// that is exactly what is given costs 0, and so does a number as the scalar that numbers become first: int,
/// float, bool.
inline constexpr int scalar_cost = 256;
/// A NumPy scalar becomes another type than its own: decides between overloads that else cost the same.
inline constexpr int not_own_cost = 1;
/// torch.autocast() casts a tensor.
inline constexpr int cast_cost = 5 * scalar_cost;
/// A tensor that PyTorch watches is read for a number.
inline constexpr int tensor_as_number_cost = 10 * scalar_cost;
/// A whole number becomes a floating one.
inline constexpr int to_floating_cost = 20 * scalar_cost;
/// Dimensions of a tensor of scalars hold structs.
inline constexpr int scalars_as_structs_cost = 30 * scalar_cost;
/// One number is all components of a vector.
inline constexpr int repeated_cost = 50 * scalar_cost;
/// A value is what an optional has.
inline constexpr int optional_cost = 75 * scalar_cost;
/// A number is a pointer's address; what lies on the host becomes a tensor of rank 0.
inline constexpr int last_resort_cost = 100 * scalar_cost;
/// An extent that the binder will refuse, and says most about.
inline constexpr int wrong_extent_cost = 1000 * scalar_cost;
/// An object of another struct's class, which has the fields. Counts once, above any sum of the others.
inline constexpr int unlikely_cost = 1'000'000 * scalar_cost;

}  // namespace kf::detail

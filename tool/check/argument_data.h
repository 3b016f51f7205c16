// A call's host arguments as bytes, made at random, with every scalar of every leaf to be found in them.
#pragma once

#include <kf/any_tensor.h>
#include <kf/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check/settings.h"
#include "core/manifest.h"

namespace kf::check {

/// One way of giving a call its arguments.
struct Case {
    enum class Layout : std::uint8_t {
        whole,    ///< every tensor has the call's shape, in row-major order
        strided,  ///< the same, with gaps and the dimensions swapped
        shared,   ///< differentiated inputs have extent 1 along some dimensions
        rows,     ///< the same, with rows that are long enough for kernels that walk rows
        flat,  ///< whole, but for one dimension all extents are 1: arguments agree in layout whatever their
               ///< ranks and the order of their dimensions
    };
    Layout layout = Layout::whole;
    std::vector<std::int64_t> shape;  ///< of the call; of launches the threads along z, y and x
};
const char* case_name(Case::Layout layout);

/// The data of one host argument: a value, a tensor, a struct or a tensor of structs, or a generator.
struct ArgumentData {
    enum class Kind : std::uint8_t { value, tensor, generator, nothing };
    Kind kind = Kind::value;
    std::size_t leaf = 0;  ///< the first of its leaves
    std::size_t leaves = 1;
    ElementType element;           ///< of tensors
    Dims shape;                    ///< of tensors, in elements
    std::size_t gapped = 0;        ///< of tensors: how many dimensions, the first ones, lie apart
    std::vector<std::byte> bytes;  ///< row-major and packed; of generators the host value
    bool input = false;            ///< some leaf is read
    bool written = false;          ///< some leaf is written
    bool gradient = false;         ///< some leaf takes a gradient
    bool flowing = false;          ///< some leaf is an output whose gradient is read
};

/// One leaf's scalars in its item's bytes.
struct Leaf {
    std::size_t item = 0;
    ScalarType scalar = ScalarType::float32;
    std::vector<std::size_t> positions;  ///< of each scalar, bytes, in row-major order
    std::vector<std::int64_t> extents;   ///< of those scalars: the tensor's, then the element's
};

struct Arguments {
    std::vector<ArgumentData> items;
    std::vector<Leaf> leaves;  ///< one a manifest::Argument; generators have no scalars
};

double get(const std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position);
void set(std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position, double value);
/// Sets an integer or a bool exactly.
void set_integer(std::vector<std::byte>& bytes, ScalarType scalar, std::size_t position, std::int64_t value);
/// Returns `value` as a scalar of that type holds it.
double rounded(ScalarType scalar, double value);
/// Returns a random number as a floating scalar is given it: steps away from it don't round.
double drawn_value(ScalarType scalar, double number);

/// The threads of a group, x first.
using GroupSize = std::array<std::uint32_t, 3>;

/// The cases that a call can be given, one of each layout at most. `shapes` may state extents. `group` is of
/// calls that are launched by threads.
std::vector<Case> cases_of(const manifest::Function& function, const manifest::Call& call,
                           const std::vector<GivenShape>& shapes, const GroupSize& group = {});
/// Returns the group size of the launched call's kernel; zeros for other calls.
GroupSize group_size(const manifest::Manifest& manifest, const manifest::Call& call);

/// Returns how many elements a launch's tensor has in that case, 2^32 at most; 1 of what is none.
std::int64_t element_count(const manifest::Function& function, const manifest::Call& call,
                           const manifest::Argument& argument, const Case& chosen,
                           const std::vector<GivenShape>& shapes);

/// Whether a shape is that of an argument: a tensor of its name and rank.
bool is_meant(const GivenShape& shape, const manifest::Function& function,
              const manifest::Argument& argument);

/// Where everything goes, all zero.
Arguments lay_out(const manifest::Function& function, const manifest::Call& call, const Case& chosen,
                  const std::vector<GivenShape>& shapes);

/// Floating inputs from [low, high]; integers that are indices into every tensor, and different ones for
/// different calls, so that calls don't write to one element.
void fill(Arguments& arguments, const manifest::Call& call, const Case& chosen, double low, double high,
          std::mt19937_64& random);

}  // namespace kf::check

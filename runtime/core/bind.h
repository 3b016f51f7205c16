// The binder: what a call's arguments mean for one launch. Pure: it touches no device and no memory.
#pragma once

#include <kf/any_tensor.h>
#include <kf/invoke.h>
#include <kf/options.h>

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "core/texture_rules.h"

namespace kf::detail {

/// Scalars in device memory: extents and strides count scalars, the element's own extents come last.
struct ScalarView {
    bool present = false;
    std::uint64_t address = 0;
    Dims extents;
    Dims strides;
};

/// One argument as the binder sees it.
struct ArgumentView {
    Arg::Kind kind = Arg::Kind::absent;
    ScalarType scalar = ScalarType::float32;  ///< of tensors
    ScalarView data;                          ///< of tensors
    ScalarView grad_in;
    ScalarView grad_out;
    bool grad_is_new = false;         ///< what `grad_out` holds doesn't count
    const void* generator = nullptr;  ///< the host value of a generator; `data` has its extents and strides
    const AnyTensor* memory =
        nullptr;                  ///< of buffers; of pointers: what `data.address` leads to, where known
    bool value_gradient = false;  ///< a value with somewhere to add (an output: read) its gradient
    const AnyTexture* texture = nullptr;
    const Sampler* sampler = nullptr;   ///< of a combined texture, too
    const AnyTensor* pushed = nullptr;  ///< of a value: the tensor given for pushed gradients, `grad_out`
    const std::string* tensor_name = nullptr;  ///< null for none
};

/// A view along the call's dimensions; strides are 0 where the argument is broadcast.
struct CallView {
    bool present = false;
    std::uint64_t address = 0;
    std::uint64_t low = 0;   ///< all that the call touches of it lies in [low, high)
    std::uint64_t high = 0;  ///< 0: not known
    Dims strides;            ///< one a call dimension
    Dims inner;              ///< extents of a parameter that is a tensor
    Dims trailing;           ///< strides, along `inner` first
};

/// One argument of the launch.
struct BoundArgument {
    CallView data;
    CallView grad_in;
    CallView grad_out;
    manifest::GradMode mode = manifest::GradMode::none;
    bool zeroes_gradient = false;  ///< the caller must, before the kernel adds to it
    std::uint32_t step = 1;
    bool allocate = false;      ///< an output that the caller must make, row-major, ...
    Dims allocate_shape;        ///< ... of this shape in elements
    bool makes_pushed = false;  ///< of a value: the caller must make the gradients that are pushed, zeros
    Dims scratch_strides;       ///< one a call dimension
    std::int64_t scratch_count = 0;  ///< sums: float32, or exact ones
    // Places in the launch's temporary memory, bytes; -1 for none.
    std::int64_t scratch_at = -1;
    std::int64_t gradient_at = -1;  ///< of a value: where the kernel adds its gradient up
    std::int64_t value_at = -1;     ///< of a value output: where the kernel stores it
    std::int64_t grad_in_at = -1;   ///< of a value output: the gradient that flows in
};

/// How a kernel that walks rows goes about the call: a row is made of its last dimensions, and a subgroup
/// takes a tile of it at a time.
struct Walk {
    std::size_t split = 0;  ///< the row's first dimension
    std::int64_t rows = 0;
    std::int64_t row_length = 0;
    std::int64_t tile_runs = 1;
    std::int64_t tile_rows = 1;
    std::int64_t tiles_down = 1;
    std::int64_t tiles_along = 1;
    bool keeps_columns = false;  ///< some gradient is shared by rows: a tile is as wide as a lane's calls
};

/// What kf.Walk::along_reciprocal holds: kernels divide by `along`, at least 1, by multiplying.
std::uint32_t along_reciprocal(std::int64_t along);

/// Memory that lives for one launch: [counter, scratch, value gradients][value outputs][uploads].
/// The first `zeroed` bytes start as zeros; [read_begin, read_end) is read back afterwards.
struct TemporaryPlan {
    std::int64_t size = 0;
    std::int64_t zeroed = 0;
    std::int64_t counter_at = -1;
    std::int64_t read_begin = 0;
    std::int64_t read_end = 0;

    /// Whether there is nothing but what kernels leave as zeros.
    [[nodiscard]] bool stays_zero() const {
        return counter_at >= 0 && zeroed == size && read_begin == read_end;
    }
};

struct Binding {
    explicit Binding(std::pmr::memory_resource* memory) : arguments(memory) {}

    std::pmr::vector<BoundArgument> arguments;
    Dims shape;                           ///< of the call
    std::int64_t total = 0;               ///< number of calls; 0: nothing to launch
    std::int64_t kernel = -1;             ///< index into Manifest::kernels
    std::uint32_t groups = 0;             ///< in all
    std::array<std::uint32_t, 3> grid{};  ///< the same along each dimension, x first
    Walk walk;                            ///< of kernels that walk rows
    TemporaryPlan temporary;
    bool needs_indices = false;  ///< of calls, which contiguous kernels don't know
    bool adds_twice = false;  ///< two inputs add to the same elements of one gradient, each call to its own
    bool exact = false;  ///< the backward pass by Call::deterministic: its sums are exact, in scratch memory
    manifest::ReportsRecord reports;  ///< of kernels that report
};

/// What of the device decides a launch.
struct DeviceLimits {
    std::uint32_t processors = 1;
    std::uint32_t max_groups = 65535;                            ///< along x
    std::uint32_t calls_per_thread = 0;                          ///< as in driver::Info
    std::array<std::uint32_t, 3> max_grid{65535, 65535, 65535};  ///< groups along each dimension, x first
    std::uint64_t buffer_alignment = 1;                          ///< as in driver::Info
    std::uint64_t max_buffer = ~std::uint64_t{0};
};

struct BindRequest {
    const manifest::Manifest& manifest;
    const manifest::Function& function;
    const manifest::Call& call;
    PassKind pass = PassKind::forward;
    std::span<const ArgumentView> arguments;
    const Dims* shape = nullptr;  ///< one more party to the broadcast
    DeviceLimits limits;
    Options options{};
};

/// Checks all rules of DESIGN §5 and decides the launch; throws ArgumentError. Addresses of what the
/// caller has yet to allocate are 0; it sets them in the binding before pack().
void bind(const BindRequest& request, Binding& binding);

/// Throws ArgumentError unless what is given for argument `i` may stand for what bind() was given, in the
/// same launch: all that its value alone decides.
void check_changed(const BindRequest& request, std::size_t i, const Binding& binding);

/// Writes a kernel's parameter block, `layout.size` bytes. `values`: each argument's host value, or null.
/// `temporary`: the address of the temporary memory.
void pack(const manifest::Call& call, const manifest::Kernel& kernel, const manifest::BlockLayout& layout,
          const Binding& binding, std::span<const void* const> values, std::uint64_t temporary,
          std::span<std::byte> block);

/// Writes one record of it anew, of those that hold no host value, for temporary memory elsewhere.
void pack_again(const manifest::Record& record, const Binding& binding, std::uint64_t temporary,
                std::byte* target);

/// Writes a host value's scalars as kernels' parameters have them.
void put_value(const ElementType& element, const void* source, std::byte* target);

/// Sets how many groups the bound launch gets, for a kernel of which `resident` groups run on one processor
/// at once (0: not known) and a thread takes `calls_per_thread` at most (0: any number), and the tiles of one
/// that walks rows. Kernels loop over what is left.
void size_launch(const BindRequest& request, Binding& binding, std::uint32_t resident,
                 std::uint32_t calls_per_thread);

}  // namespace kf::detail

// What a call reads and writes: for what looks at calls, see core/observers.h.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/bind.h"
#include "core/driver_objects.h"

namespace kf::detail {

/// Scalars that a call reads or writes: those of one argument, or of its gradient.
struct ObservedView {
    std::size_t leaf = 0;
    bool is_gradient = false;
    bool is_read = false;  ///< what the call leaves behind depends on them
    bool is_written = false;
    bool keeps_rest = false;  ///< the call may leave some of those that it writes as they are
    ScalarType scalar = ScalarType::float32;
    ScalarView scalars;                              ///< in device memory, or in the host's
    std::shared_ptr<driver::Allocation> allocation;  ///< null for the host's
    std::shared_ptr<std::vector<std::byte>> copy;  ///< of values that the call was given; null: they are lent
    AnyTexture texture;                            ///< in place of scalars
    std::string tensor;                            ///< the name of the tensor; mostly empty
};

/// One call of a function. Points into its module.
class ObservedCall {
public:
    ObservedCall(FunctionRef function, std::size_t call, PassKind pass)
        : function_(std::move(function)), call_(call), pass_(pass) {}

    /// Adds what the call was given, item by item; values are lent.
    void add_given(std::span<const Arg> items);
    /// Adds what it made, once it was made.
    void add_made(std::span<const Arg> items);
    /// Copies the values, for a call that is run later. Outputs among them are no values then.
    void own_values();
    /// Exchanges a value, whose scalars lie one after the other, or a texture that was given for `leaf`.
    void exchange(std::size_t leaf, const Arg& arg);

    [[nodiscard]] const std::vector<ObservedView>& views() const { return views_; }
    /// "shade.backward(x='image')": the function, the pass where it isn't forward, and tensors with names.
    [[nodiscard]] std::string label() const;
    [[nodiscard]] const std::string& function_name() const;
    /// "forward", "backward", "fused", "jvp".
    [[nodiscard]] const char* pass_name() const;
    /// "argument 'x'", "the gradient of argument 'ray.t' (tensor 'rays')".
    [[nodiscard]] std::string name_of(const ObservedView& view) const;
    /// The bytes of memory that it reads and writes, each of them once: of a tensor that the function takes
    /// whole, as many as there are.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    [[nodiscard]] const manifest::Function& function() const;
    [[nodiscard]] const manifest::Call& call() const { return function().calls[call_]; }
    /// Copies a value of the host's; `strides`: of its scalars.
    void keep(ObservedView& view, const void* value, const std::vector<std::int64_t>& strides);
    void add_leaf(std::size_t i, const Arg& arg);
    void add_value(std::size_t i, const Arg& arg);
    void add_tensor(std::size_t i, const AnyTensor& tensor);
    void add_elements(std::size_t i, const AnyTensor& tensor, bool is_read, bool is_written, bool keeps_rest);
    void add_gradient(std::size_t i, const AnyTensor& gradient, bool is_read, bool is_written);
    void add_texture(std::size_t i, const AnyTexture& texture);

    FunctionRef function_;
    std::size_t call_;
    PassKind pass_;
    std::vector<ObservedView> views_;
};

}  // namespace kf::detail

// What the arguments of a call are by their types alone, which decides what the call resolves to.
#pragma once

#include <kf/generator_kind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "python/arguments.h"
#include "python/lent_memory.h"
#include "python/sampler.h"
#include "python/struct_type.h"
#include "python/tensor.h"
#include "python/texture.h"
#include "python/torch_state.h"
#include "python/watched.h"

namespace kf::python {

struct WithGradients;

/// What of a texture overloads are chosen by.
struct TextureTag {
    TextureFormat format{};
    std::uint8_t dimensions = 0;
    bool is_cube = false;
    bool is_array = false;
    bool is_writable = false;
    bool has_sampler = false;

    bool operator==(const TextureTag&) const = default;
};

/// What one argument is. Arguments of the same tags, the last extents of whose tensors are the same, have the
/// same overload: what numbers are, and where tensors lie, doesn't count.
struct Tag {
    enum class Kind : std::uint8_t {
        other,  ///< anything that more than its type has to be known of
        none,
        boolean,
        integer,
        floating,
        integers,   ///< a list or tuple of `rank` numbers
        floatings,  ///< the same, where some number has a point
        stream,     ///< anything that is given as stream=
        generator,  ///< `generator` of `rank` dimensions
        sampler,    ///< a kf.Sampler, that compares where `rank` is 1
        texture,    ///< a kf.Texture of `texture`
        tensor,     ///< a kf.Tensor of `scalar` or `structure`
        buffer,     ///< a kf.Buffer
        writable_buffer,
        torch,  ///< a torch.Tensor on CUDA, that nothing watches
    };
    Kind kind = Kind::other;
    ScalarType scalar = ScalarType::float32;
    std::uint8_t rank = 0;
    detail::GeneratorKind generator = detail::GeneratorKind::none;
    bool takes_gradient = false;  ///< of a torch.Tensor, by _kf.with_gradients()
    bool gives_gradient = false;
    const StructType* structure = nullptr;
    TextureTag texture;

    bool operator==(const Tag&) const = default;
    [[nodiscard]] bool is_tensor() const { return kind >= Kind::tensor; }
    [[nodiscard]] bool is_number() const { return kind >= Kind::boolean && kind <= Kind::floating; }
    [[nodiscard]] bool is_list() const { return kind == Kind::integers || kind == Kind::floatings; }
};

/// An argument and its tag. Borrows both objects.
struct TaggedArgument {
    Tag tag;
    PyObject* value;
    const Tensor* tensor;  ///< the one that `value` is or has; else null
    PyObject* written;     ///< the gradient that the call adds to, of PyTorch's; null for none
    Loan* loan;            ///< of a torch.Tensor: what `tensor` is of; else null
};

/// What a backward pass of autograd's wants of one argument.
enum class Wanted : std::uint8_t { nothing, gradient };

/// The arguments of one call with their tags: positional ones, those by keyword, globals that are set.
class TaggedArguments {
public:
    static constexpr std::size_t most = 16;
    /// How many numbers a list may have to be told from others by its tag.
    static constexpr std::size_t longest_list = 4;

    /// Made for every call, and never cleared.
    explicit TaggedArguments(detail::PassKind pass) : pass_(pass) {}

    /// Returns false for arguments of which one has no tag, or there are too many.
    bool read(const Arguments& arguments);
    /// Reads the arguments of autograd's backward pass, numbers and torch.Tensors: those that a gradient is
    /// `wanted` of are still to be given one, and the last argument, by keyword, is an output with what flows
    /// into it.
    bool read_flat(const Arguments& arguments, std::span<const Wanted> wanted);
    /// Lends one more torch.Tensor to the call; null for one that isn't as those that it has.
    Loan* lend(const Torch& torch, PyObject* tensor);
    /// Lends memory that lies as a tensor would; null for what no kernel could reach.
    Loan* lend(const ForeignTensor& memory) { return loans_.take(context_, memory); }

    /// What watches a torch.Tensor among them, if read() met any; nothing is known of what comes after it.
    [[nodiscard]] const std::optional<WatchedCall>& watched() const { return watched_; }
    /// The first torch.Tensor; null for none.
    [[nodiscard]] PyObject* torch_tensor() const { return torch_tensor_; }
    /// CUDA's number of the device that the torch.Tensors are on.
    [[nodiscard]] int ordinal() const { return ordinal_; }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const TaggedArgument& operator[](std::size_t i) const { return all_[i]; }
    [[nodiscard]] const TaggedArgument* begin() const { return all_.data(); }
    [[nodiscard]] const TaggedArgument* end() const { return all_.data() + size_; }

private:
    /// Returns it with a tag still to be given.
    TaggedArgument& append(PyObject* value);
    bool add(PyObject* value);
    bool borrow_plain(const Torch& torch, PyObject* tensor, ForeignTensor& memory);
    Loan* add_torch(const Torch& torch, PyObject* tensor, bool is_bare, TaggedArgument& argument);
    bool add_with_gradients(const WithGradients& given, TaggedArgument& argument);

    detail::PassKind pass_;
    std::size_t size_ = 0;
    std::array<TaggedArgument, most> all_;
    std::optional<WatchedCall> watched_;
    PyObject* torch_tensor_ = nullptr;
    int ordinal_ = -1;
    ContextPtr context_;  ///< of torch.Tensors
    Loans loans_;
};

}  // namespace kf::python

// What the arguments of a call are by their types alone, which decides what the call resolves to.
#pragma once

#include <kf/generator_kind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "python/arguments.h"
#include "python/struct_type.h"
#include "python/tensor.h"

namespace kf::python {

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
        tensor,     ///< a kf.Tensor of `scalar` or `structure`
        buffer,     ///< a kf.Buffer
        writable_buffer,
    };
    Kind kind = Kind::other;
    ScalarType scalar = ScalarType::float32;
    std::uint8_t rank = 0;
    detail::GeneratorKind generator = detail::GeneratorKind::none;
    const StructType* structure = nullptr;

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
};

/// The arguments of one call with their tags: positional ones, those by keyword, globals that are set.
class TaggedArguments {
public:
    static constexpr std::size_t most = 16;
    /// How many numbers a list may have to be told from others by its tag.
    static constexpr std::size_t longest_list = 4;

    TaggedArguments() {}  // NOLINT(modernize-use-equals-default): made for every call, and never cleared

    /// Returns false for arguments of which one has no tag, or there are too many.
    bool read(const Arguments& arguments);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const TaggedArgument& operator[](std::size_t i) const { return all_[i]; }
    [[nodiscard]] const TaggedArgument* begin() const { return all_.data(); }
    [[nodiscard]] const TaggedArgument* end() const { return all_.data() + size_; }

private:
    /// Returns it with a tag still to be given.
    TaggedArgument& append(PyObject* value);
    bool add(PyObject* value);

    std::size_t size_ = 0;
    std::array<TaggedArgument, most> all_;
};

}  // namespace kf::python

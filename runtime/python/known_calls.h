// Calls that were made before, by the types of their arguments: what was found out of them holds again.
#pragma once

#include <kf/invoke.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/argument_tags.h"
#include "python/context.h"
#include "python/function.h"

namespace kf::python {

/// What decides what a call resolves to. Borrows all of it.
struct CallKey {
    const Arguments& arguments;
    const TaggedArguments& tagged;
    detail::PassKind pass;
    bool is_recorded;
};

/// A call, its overload, and what becomes of each of its arguments. Immutable but for what says so.
struct KnownCall {
    /// What an argument becomes.
    struct Place {
        enum class Kind : std::uint8_t {
            nothing,
            value,
            address,
            tensor,
            pointer,
            generator,
            grid,  ///< of a shape that is given
            texture,
            sampler,
            shape,
            stream
        };
        Kind kind = Kind::nothing;
        bool is_written = false;   ///< of values: it comes back; of tensors: the call may write to it
        ScalarType scalar{};       ///< of values
        std::uint8_t scalars = 1;  ///< the same
        std::size_t item = 0;
    };
    /// An output by value, which isn't given.
    struct Output {
        std::size_t item;
        std::size_t room;  ///< the number of its element's place among those of values
    };
    struct Result {
        enum class Kind : std::uint8_t { given, made, made_texture, value };
        Kind kind;
        std::size_t index;            ///< of the argument that was given, the item, or the element's place
        const StructType* structure;  ///< of tensors that are made
        const manifest::StructScalars* scalars;  ///< the same, of PyTorch's; null where it has none for them
        ElementType element;                     ///< of values
        const manifest::Argument* enumeration = nullptr;  ///< that a value is of, where it is an enum's
    };
    static constexpr std::size_t most_items = 24;
    static constexpr std::size_t most_outputs = 4;
    static constexpr std::size_t most_grids = 2;  ///< of which the shape is given alone
    /// Bytes of the largest value.
    static constexpr std::size_t room = 32;

    // What it is known by.
    detail::PassKind pass{};
    bool is_recorded = false;
    std::size_t positional = 0;
    std::size_t named = 0;          ///< by keywords, the rest being globals
    py::object keywords;            ///< the keywords' names, a tuple; null for none
    std::vector<py::object> names;  ///< those names and the globals', all interned
    std::vector<Tag> tags;
    std::vector<std::int64_t> last_extents;  ///< of the tensors, one after the other

    const FunctionInfo* info = nullptr;  ///< of the overloads that the names chose
    std::size_t overload = 0;
    std::size_t items = 0;
    std::vector<Place> places;  ///< one an argument
    std::vector<Output> outputs;
    std::vector<Result> results;

    // The function on the device that it was last called on, which has it. Needs Python's lock, as the count
    // of calls that are under way does.
    mutable std::uint64_t context = 0;
    mutable const detail::FunctionRef* function = nullptr;
    mutable int under_way = 0;

    [[nodiscard]] bool is_like(const CallKey& key, std::size_t last) const;
};

/// The calls of one function that are known: the last few kinds. Needs Python's lock.
class KnownCalls {
public:
    explicit KnownCalls(const manifest::Function& function);

    /// Null where there is none. It may go, unless it is under way, once another is kept.
    const KnownCall* find(const CallKey& key);
    /// Keeps what a call resolved to, if calls like it are made by what their arguments' types say alone.
    void keep(const CallKey& key, const FunctionInfo& chosen, const manifest::Call& overload);

private:
    static constexpr std::size_t kept = 8;

    std::size_t last_;  ///< extents of tensors that overloads may be chosen by
    std::size_t recent_ = 0;
    std::size_t next_ = 0;
    std::array<std::unique_ptr<const KnownCall>, kept> calls_;
};

}  // namespace kf::python

// What is given for an argument, as overloads are told apart by it: a tree, looked at as deep as they ask.
#pragma once

#include <kf/error.h>
#include <kf/invoke.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/manifest.h"

namespace kf::detail {

/// An extent that nobody knows, as of code that is traced: it fits any.
inline constexpr std::int64_t unknown_extent = -1;

inline bool fits_extent(std::int64_t given, std::int64_t wanted) {
    return given == wanted || given == unknown_extent;
}

/// Why something isn't taken.
struct Refusal {
    ErrorCode code = ErrorCode::type_mismatch;
    std::string text;
};

/// Sets `why`, where anybody wants words, to what `text` returns. Always false.
template <class Text>
bool refused(Refusal* why, ErrorCode code, Text text) {
    if (why != nullptr) *why = {code, text()};
    return false;
}

/// One thing that is given: for a parameter, for a field of a struct or for an element of a list. What it is
/// depends on what an overload takes it for, so that it is asked for each of these; answers are kept.
/// `why`, in all of them, may be null: then nobody wants words. `part`: of a struct or a list that is passed
/// as one, where nothing has a gradient of its own.
class Given {
public:
    virtual ~Given() = default;

    /// Returns what it is as an argument that is no struct; null, and why, where it is nothing of that.
    /// `by_value`: as a field of a struct that is passed by value, where only values can be.
    virtual const ArgShape* as_elements(const manifest::Call& call, const manifest::Argument& argument,
                                        bool by_value, Refusal* why) = 0;
    /// Returns whether its numbers, where it is a number or a list of such, are all values of that type.
    virtual bool holds(ScalarType, Refusal* /*why*/) { return true; }
    /// Returns whether it says that there is nothing.
    virtual bool is_nothing() { return false; }

    // What it is as a struct.
    /// Returns whether it has fields, or is an array of exactly the struct's layout.
    virtual bool is_object(bool /*part*/) { return false; }
    /// Returns what is asked for the fields: itself, or what stands for a value of a struct of Slang's own,
    /// for None, a number, a tuple. `tangent`: of that struct's, which has only what can be differentiated.
    virtual Given& as_struct(const manifest::ParameterTree& /*structure*/, bool /*tangent*/) { return *this; }
    /// Returns a field; null where it isn't there.
    virtual Given* field(const manifest::ParameterTree& /*structure*/, std::size_t /*field*/) {
        return nullptr;
    }
    /// Returns a field's default value where the object may lack the field, as a dict may; null: it may not.
    /// From then on it is the field.
    virtual Given* default_field(const manifest::ParameterTree& /*structure*/, std::size_t /*field*/) {
        return nullptr;
    }
    /// Returns a field that it says it has and the struct hasn't, "'q' = 2 (an int)"; empty for none.
    virtual std::string other_field(const manifest::ParameterTree& /*structure*/) { return {}; }
    /// Returns whether its fields are what somebody listed, not those that its class happens to have.
    virtual bool lists_fields() { return false; }
    /// Returns whether its class is that of another struct, not of this one.
    virtual bool is_of_other_class(const manifest::ParameterTree& /*structure*/) { return false; }
    /// Returns whether it is the bytes of such a struct, which need no look at its fields.
    virtual bool has_bytes_of(const manifest::Call&, const manifest::ParameterTree& /*structure*/) {
        return false;
    }

    // What it is as several structs.
    /// Returns how long a list it is; nothing where it is none. `or_array`: arrays count as lists.
    virtual std::optional<std::size_t> length(bool /*or_array*/, bool /*part*/) { return std::nullopt; }
    virtual Given& element(std::size_t) { return *this; }
    /// Visits the elements in order until `visit` returns false, and keeps none: there may be many.
    virtual void each_element(const std::function<bool(Given&)>& /*visit*/) {}
    /// Returns the shape of the structs where it is a tensor or an array of exactly such; else null, and why.
    /// A list is neither: null, and `is_list` becomes true.
    virtual const Dims* as_structs(const manifest::Call&, const manifest::ParameterTree& /*structure*/,
                                   bool& /*is_list*/, Refusal* why) {
        if (why != nullptr) why->text = "structs are needed, not " + text();
        return nullptr;
    }

    /// Returns what it costs that as_structs() has found structs: a tensor of scalars may hold some.
    [[nodiscard]] virtual int structs_cost() const { return 0; }

    /// "{'r': 2}"; empty where there is no text for it.
    [[nodiscard]] virtual std::string text() const { return {}; }
    /// "a dict"
    [[nodiscard]] virtual std::string type_text() const { return {}; }

protected:
    Given() = default;
    Given(const Given&) = default;
    Given& operator=(const Given&) = default;
    Given(Given&&) = default;
    Given& operator=(Given&&) = default;
};

}  // namespace kf::detail

// The C++ member functions that a planned call becomes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emit/cpp_structs.h"
#include "plan/plan.h"

namespace kf::gen {

enum class CppMethodKind { call, append_to };

/// The part of a function that a member function belongs to: itself, or one of its derivatives. For `jvp` the
/// calls are those of the function of its forward derivatives.
enum class CppPart { function, backward, fused, jvp };

/// The argument or result that stands for one item of a call.
struct CppItem {
    enum class How { none, in, out, inout, made };

    How how = How::none;     ///< `made`: a tensor that the call makes, and returns
    std::string place = {};  ///< "ray.pos", "result.value"
    bool is_value = false;   ///< a host value
};

/// An output that a member function returns.
struct CppOutput {
    std::string type;
    std::string name;
    std::size_t at = 0;     ///< which item it is
    bool is_value = false;  ///< a host value, else a tensor that the call makes

    bool operator==(const CppOutput&) const = default;
};

/// One member function: what its signature is made of.
struct CppMethod {
    CppMethodKind kind = CppMethodKind::call;
    CppPart part = CppPart::function;
    bool nodiscard = false;
    std::size_t call = 0;            ///< index among the function's calls
    std::string result;              ///< its type; "void"
    std::vector<std::string> types;  ///< of the parameters
    std::vector<std::string> names;
    std::size_t optional = 0;         ///< how many parameters at the end may be left out
    std::vector<std::string> places;  ///< of all that is given and returned, structs by fields field by field
    std::vector<CppItem> items;       ///< the call's
    /// The values returned where nothing is given to write to; forward derivatives return all of them.
    std::vector<CppOutput> outputs;
    std::string shape;  ///< the parameter that gives the call its shape, where nothing else does; or empty

    /// "operator()" or "append_to".
    [[nodiscard]] std::string name() const;
    /// "std::int32_t a, float grad", one entry each.
    [[nodiscard]] std::vector<std::string> parameters() const;
};

/// Returns the methods of a call: the forward pass's, then the backward pass's where there is one; a forward
/// derivative's call has its own alone.
std::vector<CppMethod> cpp_methods(const PlannedCall& call, std::size_t index, const CppStructs& structs);

/// Where overloads differ in what number they take, each leaves what is just another's to that one, so that
/// calls aren't ambiguous.
void separate_scalars(std::vector<CppMethod>& methods);

/// The items' names in C++, all different: "ray.origin" where the ray is given field by field.
std::vector<std::string> cpp_argument_names(const PlannedCall& call, const CppStructs& structs);

}  // namespace kf::gen

// Which of several overloads the structs given are meant for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "python/function.h"

namespace kf::python {

/// Why an overload is not what is meant: an argument is an object of another struct's generated class, or a
/// list of such. Empty where there is none. `given`: one object a parameter, null where it isn't given.
std::string other_class(const FunctionInfo& info, std::size_t overload, std::span<const py::object> given);

/// Why the value can't be passed as that struct; empty where it can.
std::string why_not(const manifest::Call& call, const manifest::ParameterTree& structure, py::handle value,
                    const Where& where);

/// Whether one of `others` takes another struct than `overload` for an argument that is given.
bool differ_in_structs(const FunctionInfo& info, std::size_t overload, const std::vector<std::size_t>& others,
                       std::span<const py::object> given);

/// Refuses an argument that could as well be another struct: overloads are not chosen by their order.
void check_structs(const FunctionInfo& info, std::size_t best, const std::vector<std::size_t>& equal,
                   std::span<const py::object> given);

/// A tensor or array given for one of structs.
struct GivenStructs {
    const StructType* type;  ///< null where its elements are no structs that we know
    py::handle object;
    const Dims& shape;
};

/// Refuses one of other structs, or of another rank than `rank` and the dimensions of the array.
void check_struct_tensor(const HostItem& wanted, std::int64_t rank, const GivenStructs& given,
                         const Where& where);

/// What an error says, without the function's name before it.
std::string reason(const FunctionInfo& info, const std::string& what);

/// The overloads of `info`, each on a line of its own.
std::string signatures(const FunctionInfo& info);

/// These, and why they don't take the arguments.
std::string refused(const FunctionInfo& info, const std::string& why);

}  // namespace kf::python

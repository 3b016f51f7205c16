// kf.Function: a function of an artifact with its overloads, as Python calls it.
#pragma once

#include <kf/invoke.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/arguments.h"
#include "python/context.h"
#include "python/encoder.h"
#include "python/struct_type.h"
#include "python/struct_views.h"
#include "python/structs.h"

namespace kf::python {

/// One host argument of overloads, in the manifest's order: parameters, then the result.
struct HostParameter {
    std::string keyword;                       ///< what calls take it by: see python_parameters()
    std::string name;                          ///< in Slang
    manifest::Role role = manifest::Role::in;  ///< of `this` always that, since it doesn't come back
    bool hidden = false;                       ///< a generator that the host gives nothing for
    std::optional<std::size_t> tangent_of;     ///< of forward derivatives: the parameter whose tangent it is
    bool is_global = false;                    ///< it is set beforehand: its keyword is "globals.tint"

    bool operator==(const HostParameter&) const = default;
};

/// What the host passes as one thing to an overload.
struct HostItem {
    std::string name;  ///< "ray", or "ray.origin" where the ray is given field by field
    manifest::Role role = manifest::Role::in;
    const manifest::ParameterTree* structure = nullptr;  ///< of what is a struct, or a tensor of them
    const StructType* type = nullptr;                    ///< of a tensor of structs
    const manifest::StructScalars* scalars = nullptr;    ///< that one of PyTorch's may hold instead; or null
    std::size_t leaf = 0;                                ///< the first
    bool hidden = false;                                 ///< a generator that the host gives nothing for
};

struct FunctionInfo;
struct WatchedCall;
class KnownCalls;

/// What the functions of one loaded module share. Needs the GIL.
struct LoadedFunctions {
    std::shared_ptr<const Artifact> artifact;
    std::shared_ptr<StructClasses> classes = std::make_shared<StructClasses>();
    std::shared_ptr<StructViews> views = std::make_shared<StructViews>();
    std::map<std::size_t, std::shared_ptr<const FunctionInfo>> infos;  ///< by function number, once asked for
    /// The generated Python module's name, as `import` takes it; empty where load_module() wasn't told.
    std::string import_name;
    std::map<std::size_t, py::weakref> objects;  ///< kf.Function by number, while somebody has it
    std::weak_ptr<LoadedFunctions> root;         ///< those with the default constants; nothing for these
    std::map<detail::ConstantValues, std::shared_ptr<LoadedFunctions>> chosen;  ///< of a root: with others
};

/// Returns what copies of function number `index` share: the same each time.
std::shared_ptr<const FunctionInfo> info_of(const std::shared_ptr<LoadedFunctions>& all, std::size_t index);
/// Returns the same of another function of the module; a new one where that is gone.
std::shared_ptr<const FunctionInfo> info_of(const FunctionInfo& known, std::size_t index);
/// Returns the function with other values of the constants that run time chooses.
std::shared_ptr<const FunctionInfo> info_of(const FunctionInfo& known, std::size_t index,
                                            const detail::ConstantValues& constants);

/// What all configured copies of a function share. Immutable. Overloads that take other arguments, by name
/// or number, are in `others`.
struct FunctionInfo : std::enable_shared_from_this<FunctionInfo> {
    /// Takes those overloads of function number `index` that have the parameters of number `first`. Where
    /// that is 0, the others go into `others`.
    FunctionInfo(const std::shared_ptr<LoadedFunctions>& all, std::size_t index, std::size_t first = 0);

    std::shared_ptr<const Artifact> artifact;
    std::weak_ptr<LoadedFunctions> module;  ///< which has this, and goes with the Python module
    std::string import_name;                ///< the module's
    std::size_t index = 0;
    const manifest::Function& function;
    std::vector<HostParameter> parameters;
    /// The object's tangent and what becomes of it, in the forward derivative of a method that changes it.
    std::optional<std::pair<std::size_t, std::size_t>> object_tangents;
    std::vector<std::size_t> calls;  ///< the overloads with these parameters
    std::vector<std::shared_ptr<const FunctionInfo>> others;
    std::vector<std::vector<HostItem>> items;  ///< of every overload, those in `others` too
    std::size_t returned = 0;                  ///< how many of `parameters` come back
    std::vector<py::object> globals;           ///< that some overload reaches: "tint", interned
    std::vector<py::object> written_globals;   ///< those of them that some overload writes
    std::vector<py::object> global_fields;     ///< what fields of structs in them are called
    std::vector<py::object> names;    ///< of `parameters`: "x", "out", and of a global "tint"; interned
    std::vector<std::size_t> places;  ///< the parameters that positional arguments are for
    std::vector<std::size_t> places_backward;  ///< the same of a backward pass, which takes results too
    bool differentiable = false;               ///< some overload has a backward pass
    bool has_fused = false;                    ///< some overload has a fused one
    bool is_launched = false;                  ///< the host says how many threads run some overload
    std::shared_ptr<const FunctionInfo> jvp;   ///< of those of its forward derivatives; null: none has one
    std::shared_ptr<StructClasses> classes;
    std::shared_ptr<StructViews> views;
    py::object results;     ///< the named tuple's class; None unless there are several results
    py::str name;           ///< of its Python objects
    py::str documentation;  ///< the same
    mutable std::shared_ptr<KnownCalls> known_calls;  ///< null before the first; needs the GIL
};

/// Whether a parameter's values come back to the caller.
inline bool is_returned(const HostParameter& parameter) { return parameter.role != manifest::Role::in; }

/// Converts, resolves and runs one call; `encoder` is null for a call that runs at once. Returns the result
/// of a forward call: a number, array or tensor, a named tuple of several, or None. A forward derivative has
/// two of that, the second for the tangents (None for what has none). `before`, unless it is null, is what
/// hooks recorded. Where PyTorch watches the call, nothing is done: it is thrown, or null is returned with
/// `watched` set.
py::object call(const FunctionInfo& info, detail::PassKind pass, RecordedCalls* encoder,
                const Arguments& arguments, const Options& options, std::optional<WatchedCall>& watched,
                Encoder* before = nullptr);

}  // namespace kf::python

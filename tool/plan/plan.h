// The one description that every emitter reads: calls resolved against the module's reflection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "core/run_time_constant.h"
#include "plan/link_time.h"
#include "slang/kernel_source.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// One argument of a planned call. `host` is what the host sees and what goes into the artifact.
struct PlannedArgument {
    manifest::Argument host;
    Type type;                 ///< the Slang parameter's (or result's) type
    std::string element_name;  ///< how a kind spells host.element: "float3", "float2x3", "float2[4]"
    bool is_result = false;    ///< the return value, not a parameter
    bool no_diff = false;
    bool grad_is_false = false;     ///< its kind says "grad": false
    bool is_unasked = false;        ///< that, or the "inputs" of "backward" are others
    std::string plain_struct = {};  ///< the struct in the way of a derivative: it isn't IDifferentiable
    bool from_buffer = false;       ///< each call gets an element of a buffer
    Location location;              ///< the spec entry its kind comes from
    std::string path;  ///< in the parameter, [] for each array of structs around: ".spheres[].center"

    bool operator==(const PlannedArgument&) const = default;
};

/// One parameter of the Slang function, or its result: a leaf, or a struct of them.
struct PlannedParameter {
    manifest::ParameterTree host;
    Type type;
    manifest::Role role = manifest::Role::in;  ///< the function's, which a field's may be narrower than
    bool no_diff = false;
    std::int64_t tangent_of = -1;  ///< in forward derivatives: the parameter that this is a tangent of
    /// The function, with its namespaces, by which kernels set the global parameter that it is, or which
    /// returns that property; empty: it is none.
    std::string global_function = {};
    bool is_property = false;  ///< of a global: kernels return it whenever it is read, as what holds a buffer

    bool operator==(const PlannedParameter&) const = default;
};

/// A global parameter of the modules that a call reaches: the host sets it beforehand.
struct PlannedGlobal {
    std::string name;  ///< "ns.tint"; behind its module's where others have that: "scenery.tint"
    std::string doc;
    PlannedParameter parameter;  ///< its first leaf is 0
    std::vector<PlannedArgument> arguments;

    bool operator==(const PlannedGlobal&) const = default;
};

/// Whether the backward pass sums exactly, so that the order doesn't matter; `automatic`: both ways are
/// built.
enum class Determinism : std::uint8_t { never, automatic, always };

/// A value that a GPU gives each thread for a parameter that is no argument.
struct LaunchValue {
    std::size_t before = 0;  ///< the number of the parameter that it stands before; of all: behind them
    std::string type;        ///< "uint3"
    std::string
        expression;  ///< in a kernel: "kf_id.xy"; of a struct it initialises one: "{ kf_id, kf_number }"
    bool is_struct = false;

    bool operator==(const LaunchValue&) const = default;
};

struct PlannedCall;

/// One of a call's named sets of options.
struct PlannedVariant {
    std::string name;
    std::optional<ThreadsSpec> threads;  ///< unset: the call's own
    LinkSpec given;                      ///< what it says itself
    LinkTime link;                       ///< that, and what the spec says
    Location location;
    std::vector<MapSpec> maps = {};  ///< where they place arguments in the call
    bool prints = false;             ///< as PlannedCall's
    bool checks = false;
    std::shared_ptr<const PlannedCall> mapped = nullptr;  ///< the call with these; null: the call's own do

    bool operator==(const PlannedVariant&) const = default;
};

/// One overload: a Slang function with one kind chosen for each argument.
struct PlannedCall {
    std::string function;  ///< as kernels call it in Slang: "add", "scale<float, 3>"
    /// Kernels call it through a function of their own that has the arguments' types, since by itself it
    /// would be another function or take another type: overloaded generics, and interfaces.
    bool by_adapter = false;
    std::vector<PlannedArgument> arguments;  ///< leaves in parameter order, the result last
    std::int64_t rank = 0;                   ///< of the call shape
    manifest::Dispatch dispatch = manifest::Dispatch::elements;
    bool declares_group_size = false;  ///< by [numthreads]
    std::array<std::uint32_t, 3> group_size{128, 1, 1};
    std::vector<std::string> group_text = {};   ///< as Function's, where linking decides it
    manifest::GroupExtents group_extents = {};  ///< where run time chooses some of it
    /// How many threads of a group lie beside each other in a tile of pixels; 0: the spec states groups of
    /// one dimension.
    std::uint32_t group_width = 0;
    bool strict_broadcasting = false;
    bool has_backward = false;
    bool has_fused = false;                          ///< a backward pass that makes the result too
    bool has_jvp = false;                            ///< the spec asks for its forward derivative
    bool is_jvp = false;                             ///< it is one: see plan/forward_diff.h
    Determinism deterministic = Determinism::never;  ///< of the backward and the fused pass
    Location location;                               ///< the call in the spec
    std::vector<PlannedParameter> parameters;        ///< the trees over `arguments`, in the same order
    Member member = Member::none;                    ///< a method's first parameter is "this"
    std::string owner = {};                          ///< the Slang type that it is a member of
    std::vector<AccumulateSpec> accumulate;          ///< what run time may choose; see plan/accumulate.h
    LinkTime link = {};                              ///< what its kernels are linked with
    std::vector<PlannedVariant> variants = {};
    std::string module = {};  ///< the one that kernels import for it; empty: the plan's imports
    std::vector<LaunchValue> launch_values = {};  ///< in parameter order
    std::vector<PlannedGlobal> globals = {};      ///< that it reaches: see plan/globals.h
    bool prints = false;                          ///< what printf() and assert() say is reported
    bool checks = false;                          ///< so are indices beyond what they index

    [[nodiscard]] bool reports() const { return prints || checks; }
    [[nodiscard]] std::uint32_t group_threads() const {
        return group_size[0] * group_size[1] * group_size[2];
    }

    bool operator==(const PlannedCall&) const = default;
};

/// A host function: its overloads differ in their argument kinds.
struct PlannedFunction {
    std::string name;  ///< in the artifact: "add"; of a struct's member, but for constructors, "Ray.at"
    std::string doc;   ///< from the Slang source, one paragraph a blank line
    std::vector<PlannedCall> calls;
    std::string owner = {};  ///< the Slang type that it is a member of; empty: of none, or a constructor
    std::int64_t jvp = -1;   ///< the function of its calls' forward derivatives
    bool is_jvp = false;     ///< it is that of another one: no host function by itself
    std::vector<manifest::Choice> choices = {};
    std::vector<std::int64_t> chosen = {};  ///< as manifest::Function's
    std::vector<manifest::OptionSet> option_sets = {};
    bool is_choice = false;  ///< it has other than the default ways: no host function by itself

    [[nodiscard]] bool is_hidden() const { return is_jvp || is_choice; }

    /// Returns a member's name in its owner.
    [[nodiscard]] std::string member_name() const {
        return name.substr(owner.empty() ? 0 : owner.size() + 1);
    }
    [[nodiscard]] bool is_method() const {
        return !owner.empty() && !calls.empty() && calls.front().member == Member::method;
    }

    bool operator==(const PlannedFunction&) const = default;
};

/// The default values of a struct's fields, in order, as the bits of the numbers in each; none for a field
/// without one.
using FieldDefaults = std::vector<std::vector<std::uint64_t>>;

struct Plan {
    std::string name;                  ///< of the spec: file names, the Python module
    std::string cpp_namespace;         ///< defaults to `name`; may be nested: "app::kernels"
    std::vector<std::string> imports;  ///< Slang modules that kernels import
    std::vector<PlannedFunction> functions;
    std::vector<StructText> structs = {};  ///< what is written of structs, used or not
    std::vector<GlobalForm> globals =
        {};  ///< the global parameters that some call reaches, as kernels have them
    std::vector<NamedText> formats = {};  ///< that the spec states of textures that are globals, or in some
    std::vector<std::string> flag_enums = {};            ///< the names of enums whose members are combined
    std::map<std::string, FieldDefaults> defaults = {};  ///< by struct, of those that have some
    std::vector<manifest::Message> messages = {};        ///< that kernels name when they report
    LinkTime link = {};                                  ///< the spec's, for all but variants

    bool operator==(const Plan&) const = default;
};

}  // namespace kf::gen

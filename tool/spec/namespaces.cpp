// Which namespaces C++ headers can have.
#include "spec/namespaces.h"

#include <algorithm>
#include <array>

#include "spec/cpp_macros.h"
#include "spec/names.h"

namespace kf::gen {
namespace {

/// Functions of the C library's headers, and the program's: a namespace can't have such a name beside them.
constexpr std::array<std::string_view, 102> library_functions{
    "abort",     "abs",       "acos",   "acosh",  "asin",    "asinh",   "atan",   "atan2",   "atanh",
    "atexit",    "atof",      "atoi",   "atol",   "bsearch", "calloc",  "cbrt",   "ceil",    "clock",
    "copysign",  "cos",       "cosh",   "ctime",  "div",     "drem",    "erf",    "erfc",    "exit",
    "exp",       "exp10",     "exp2",   "expm1",  "fabs",    "fdim",    "floor",  "fma",     "fmax",
    "fmin",      "fmod",      "free",   "frexp",  "gamma",   "getenv",  "hypot",  "ilogb",   "index",
    "j0",        "j1",        "jn",     "labs",   "ldexp",   "ldiv",    "lgamma", "llabs",   "lldiv",
    "llrint",    "llround",   "log",    "log10",  "log1p",   "log2",    "logb",   "lrint",   "lround",
    "main",      "malloc",    "memchr", "memcmp", "memcpy",  "memmove", "memset", "modf",    "nan",
    "nearbyint", "nextafter", "pow",    "pow10",  "qsort",   "rand",    "random", "realloc", "remainder",
    "remove",    "remquo",    "rename", "rint",   "round",   "scalb",   "scalbn", "signal",  "significand",
    "sin",       "sinh",      "sqrt",   "srand",  "system",  "tan",     "tanh",   "tgamma",  "time",
    "trunc",     "y0",        "y1"};

const char* reason_against(const std::string& part, bool outermost) {
    if (part == "kf" || part == "std") return "hides the namespace that generated code uses";
    if (outermost && std::ranges::find(library_functions, part) != library_functions.end())
        return part == "main" ? "is the function that programs start with"
                              : "is a function of the C library's";
    if (is_cpp_macro(part)) return "is a macro of C headers";
    if (is_cpp_keyword(part) || is_kept_by_cpp(part) || !is_identifier(part))
        return "is not a name that C++ allows";
    return nullptr;
}

}  // namespace

Diagnostics check_namespace(const Spec& spec) {
    Diagnostics errors;
    const std::string& name = spec.namespace_name;
    for (std::size_t at = 0; at <= name.size();) {
        const auto end = std::min(name.find("::", at), name.size());
        const std::string part = name.substr(at, end - at);
        if (const char* why = reason_against(part, at == 0)) {
            errors.push_back({Severity::error,
                              "reserved-namespace",
                              spec.namespace_location,
                              "namespace '" + name + "': '" + part + "' " + why,
                              {"state another one: \"namespace\": \"" + part +
                               "_kernels\" in the spec, or NAMESPACE in add_kernel_functions()"}});
        }
        at = end + 2;
    }
    return errors;
}

}  // namespace kf::gen

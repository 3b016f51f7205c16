// Which words can name what is generated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

bool is_cpp_keyword(std::string_view name);

/// Keywords of C++20 and of Python 3, and the names kf, kernelfunctions and std.
bool is_reserved(std::string_view name);

/// Letters, digits and _, not beginning with a digit.
bool is_identifier(std::string_view name);

/// "ns::Type<int>.method" -> {"ns", "Type", "method"}.
std::vector<std::string> name_parts(std::string_view name);

/// "ns.foo" of "ns::foo<float, 3>": what modules call it.
std::string plain_name(std::string_view name);

/// "f<float>" of "a::b.f<float>" and 2: what follows so many names, which have no generic arguments. Nothing
/// where one has some, or nothing follows.
std::optional<std::string> without_names(std::string_view name, std::size_t count);

/// Returns the host's name for a Slang function when the spec doesn't say one: its last name, for a
/// constructor ("Type.__init") its type's, for an operator of so many operands a word: see spec/operators.h.
std::string default_host_name(std::string_view function, std::size_t operands = 0);

}  // namespace kf::gen

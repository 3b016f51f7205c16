// What types and functions of a module's code are, as far as derivatives go.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slang/ir_text.h"

namespace kf::gen::ir {

/// Whether it is the type of a parameter that a call may write: "OutParam(Float)".
[[nodiscard]] bool is_written(Text type);
/// "Float" of "OutParam(Float)" and "Ptr(Float)".
[[nodiscard]] Text pointee(Text type);
/// Vectors of integers, too.
[[nodiscard]] bool is_integer(Text type);
/// Constructors and setters have names that the source hasn't.
[[nodiscard]] std::string as_written(const std::string& name);

/// Refers to the module.
class Types {
public:
    explicit Types(const Module& module);

    [[nodiscard]] bool is_differentiable(Text type) const;
    /// Returns the parameters' types of what is called; nothing where they aren't known.
    [[nodiscard]] std::vector<Text> parameters_of(Text callee) const;
    /// Returns a function's name in the source, or its id.
    [[nodiscard]] std::string name_of(Text id) const;

private:
    const Module& module_;
    std::map<Text, Text> types_;  ///< of functions
};

}  // namespace kf::gen::ir

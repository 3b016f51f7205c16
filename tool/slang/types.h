// Slang's reflected types as plain values.
#pragma once

#include <slang.h>

#include "slang/module.h"

namespace kf::gen {

/// `program` is any module's layout; it answers what conforms to IDifferentiable.
class TypeDescriber {
public:
    explicit TypeDescriber(slang::ProgramLayout& program);
    /// Of a type that Slang itself cannot describe (it may name generic parameters): kind `other`.
    [[nodiscard]] Type describe(slang::TypeReflection* type) const;

private:
    [[nodiscard]] Type describe_whole(slang::TypeReflection& type) const;
    [[nodiscard]] bool is_differentiable(slang::TypeReflection& type) const;

    slang::ProgramLayout* program_;
    slang::TypeReflection* differentiable_;
};

}  // namespace kf::gen

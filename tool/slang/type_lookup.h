// What planning may ask of the compiler about types; fakes answer it in tests.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "diagnostic/diagnostic.h"
#include "slang/module.h"

namespace kf::gen {

/// Names are Slang's own spelling, well-formed: "float3", "Array<float, 4>", "ns.Box<int, 3>". Both search
/// all modules of the spec. Errors are the compiler's own failures, never the answer "no". Not thread-safe.
class TypeLookup {
public:
    virtual ~TypeLookup() = default;
    /// The type of that name; nothing when no module has it, or when its own generic arguments break a
    /// constraint.
    virtual Outcome<std::optional<Type>> type_named(const std::string& name) = 0;
    /// Whether a type conforms to an interface; false when either is unknown.
    virtual Outcome<bool> conforms(const std::string& type, const std::string& interface_name) = 0;
    /// A lookup that searches a module first that the spec's import: NamedModule::import_name. It must not
    /// outlive this one. Null: there is none, and this one does.
    virtual std::unique_ptr<TypeLookup> within(const std::string& /*import_name*/) { return nullptr; }
};

}  // namespace kf::gen

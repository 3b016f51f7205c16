// A function of a loaded module with its configuration: how it is copied, and given other globals.
#include <kf/function_ref.h>

namespace kf::detail {

FunctionRef::FunctionRef() = default;
FunctionRef::FunctionRef(const FunctionRef& other) = default;
FunctionRef::FunctionRef(FunctionRef&& other) noexcept = default;
FunctionRef& FunctionRef::operator=(const FunctionRef& other) = default;
FunctionRef& FunctionRef::operator=(FunctionRef&& other) noexcept = default;
FunctionRef::~FunctionRef() = default;

FunctionRef FunctionRef::with(GlobalValues values) const {
    FunctionRef made = *this;
    made.globals = std::make_shared<const GlobalValues>(std::move(values));
    return made;
}

GlobalValues FunctionRef::global_values() const { return globals ? *globals : GlobalValues(); }

}  // namespace kf::detail

// A function of a loaded module with its configuration: how it is copied, and given other globals.
#include <kf/function_ref.h>

#include <array>
#include <charconv>

#include "core/module_state.h"

namespace kf {
namespace {

template <class Number>
std::string shortest_text(Number value) {
    std::array<char, 32> room{};
    return {room.data(), std::to_chars(room.data(), room.data() + room.size(), value).ptr};
}

}  // namespace

ConstantValue::ConstantValue(double value) : text_(shortest_text(value)) {}
ConstantValue::ConstantValue(float value) : text_(shortest_text(value)) {}

}  // namespace kf

namespace kf::detail {

FunctionRef::FunctionRef() = default;
FunctionRef::FunctionRef(const FunctionRef& other) = default;
FunctionRef::FunctionRef(FunctionRef&& other) noexcept = default;
FunctionRef& FunctionRef::operator=(const FunctionRef& other) = default;
FunctionRef& FunctionRef::operator=(FunctionRef&& other) noexcept = default;
FunctionRef::~FunctionRef() = default;

FunctionRef FunctionRef::with(GlobalValues values) const {
    check_function(*this);
    FunctionRef made = *this;
    made.globals = std::make_shared<const GlobalValues>(std::move(values));
    return made;
}

GlobalValues FunctionRef::global_values() const { return globals ? *globals : GlobalValues(); }

}  // namespace kf::detail

// Pointers.
#include "emit/kinds/pointer.h"

#include "emit/element.h"
#include "plan/types.h"

namespace kf::gen::kinds {

namespace {

bool is_only_read(const Pointer& pointer) { return pointer.access == manifest::Access::read; }

}  // namespace

std::optional<MadeValue> made_value(const Pointer&, const MadeUse& use) {
    const std::string address = record_text(use.fields, manifest::RecordKind::pointer, use.index);
    return MadeValue{"(" + declared_name(use.planned.type) + ")(" + address + ")", {}, {}};
}

std::string cpp_passed_type(const Pointer& pointer, const PlannedArgument& item, const CppStructs&) {
    const bool values = pointer.pointee == manifest::Pointee::values;
    return std::string("kf::Pointer<") + (is_only_read(pointer) ? "const " : "") +
           (values ? cpp_type(slang_name(item.host.element)) : "void") + ">";
}

PythonTypes python_types(const Pointer&, const PlannedArgument&, bool) {
    return python_int | python_tensor | python_buffer;
}

std::string described(const Pointer& pointer, const PlannedArgument& item) {
    return "in, " + item.element_name + (is_only_read(pointer) ? ", only read" : "");
}

}  // namespace kf::gen::kinds

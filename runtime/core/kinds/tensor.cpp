// The kind "tensor": its rules in manifests, and its records.
#include "core/kinds/tensor.h"

#include "core/consistency.h"
#include "core/kinds/elements.h"
#include "core/roles.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const Tensor&, const Call&, const Argument& argument, const std::string& where) {
    require(argument.inner_rank == 0, where, "a tensor parameter without a rank");
    check_extents(argument, where);
    require(!is_pushed(argument) || argument.role == Role::in, where, "a pushed gradient of no tensor");
}

std::string spec_text(const Tensor&, const Argument& argument, const std::string& element) {
    return tensor_spec_text(argument, element);
}

bool reads_elements(const Tensor&, const Argument& argument) { return !is_only_written(argument.role); }

bool writes_elements(const Tensor&, const Argument& argument) { return is_output(argument); }

bool depends_on_elements(const Tensor&, const Argument& argument) { return !is_only_written(argument.role); }

std::int64_t extent_in_element(const Tensor&, const Argument& argument, std::size_t k) {
    return element_extent(argument, k);
}

void list_records(const Tensor&, const Argument& argument, std::int64_t index, RecordList& list) {
    list_element_records(argument, index, 0, list);
}

}  // namespace kf::manifest::kinds

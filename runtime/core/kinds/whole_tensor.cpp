// The kind of a parameter that is a tensor itself: its rules in manifests, and its records.
#include "core/kinds/whole_tensor.h"

#include "core/consistency.h"
#include "core/kinds/elements.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const WholeTensor&, const Call&, const Argument& argument, const std::string& where) {
    require(argument.inner_rank > 0, where, "a tensor parameter without a rank");
    require(argument.role == Role::in, where, "a tensor parameter that isn't given a tensor");
    check_extents(argument, where);
}

std::string spec_text(const WholeTensor&, const Argument& argument, const std::string& element) {
    return tensor_spec_text(argument, element);
}

bool reads_elements(const WholeTensor& tensor, const Argument&) {
    return tensor.access != Access::write && tensor.access != Access::add;
}

bool writes_elements(const WholeTensor& tensor, const Argument&) {
    return tensor.access != Access::read && !tensor.only_read;
}

bool depends_on_elements(const WholeTensor& tensor, const Argument&) {
    return tensor.access != Access::write;
}

std::int64_t extent_in_element(const WholeTensor&, const Argument& argument, std::size_t k) {
    return element_extent(argument, k);
}

bool shares_place(const WholeTensor&, const Argument& argument) { return argument.pitch != 0; }

void list_records(const WholeTensor& tensor, const Argument& argument, std::int64_t index, RecordList& list) {
    // It has strides in contiguous kernels too, or they follow from its extents.
    list_element_records(argument, index, tensor.contiguous_only ? 0 : argument.inner_rank, list);
}

}  // namespace kf::manifest::kinds

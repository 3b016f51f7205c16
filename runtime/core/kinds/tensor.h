// The kind "tensor": of its elements each call reads or writes one.
#pragma once

#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

struct Tensor {
    static constexpr const char* word = "tensor";

    bool contiguous_only = false;  ///< "layout": "contiguous"

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("contiguous_only", self.contiguous_only);
    }

    bool operator==(const Tensor&) const = default;
};

inline HostPassing passed_as(const Tensor&) { return HostPassing::tensor; }

// The answers to kinds/questions.h.
void check_consistency(const Tensor& tensor, const Call& call, const Argument& argument,
                       const std::string& where);
std::string spec_text(const Tensor& tensor, const Argument& argument, const std::string& element);
bool reads_elements(const Tensor& tensor, const Argument& argument);
bool writes_elements(const Tensor& tensor, const Argument& argument);
bool depends_on_elements(const Tensor& tensor, const Argument& argument);
std::int64_t extent_in_element(const Tensor& tensor, const Argument& argument, std::size_t k);
inline bool may_write_through(const Tensor&) { return false; }
inline bool has_free_access(const Tensor&) { return false; }
inline bool has_one_gradient(const Tensor&) { return false; }
inline bool adds_atomically(const Tensor&) { return false; }
inline bool requires_contiguous(const Tensor& tensor) { return tensor.contiguous_only; }
inline bool shares_place(const Tensor&, const Argument&) { return false; }
inline bool lies_in_block(const Tensor&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Tensor&) { return false; }
void list_records(const Tensor& tensor, const Argument& argument, std::int64_t index, RecordList& list);
inline void list_resources(const Tensor&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds

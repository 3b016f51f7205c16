// The kind of a parameter that is a tensor itself (Tensor<float, 1> and its kin): each call takes it whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/kinds/access.h"
#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

/// Where it has dimensions of the call's too, each call takes one part of it. Its argument's role is `in`,
/// and its inner rank is not 0.
struct WholeTensor {
    static constexpr const char* word = "whole_tensor";

    Access access = Access::read;
    bool contiguous_only = false;  ///< "layout": "contiguous"
    bool only_read = false;        ///< a view whose elements the function doesn't write

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("access", self.access, access_words);
        visit("contiguous_only", self.contiguous_only);
        visit("only_read", self.only_read);
    }

    bool operator==(const WholeTensor&) const = default;
};

inline HostPassing passed_as(const WholeTensor&) { return HostPassing::tensor; }

// The answers to kinds/questions.h.
void check_consistency(const WholeTensor& tensor, const Call& call, const Argument& argument,
                       const std::string& where);
std::string spec_text(const WholeTensor& tensor, const Argument& argument, const std::string& element);
bool reads_elements(const WholeTensor& tensor, const Argument& argument);
bool writes_elements(const WholeTensor& tensor, const Argument& argument);
bool depends_on_elements(const WholeTensor& tensor, const Argument& argument);
std::int64_t extent_in_element(const WholeTensor& tensor, const Argument& argument, std::size_t k);
inline bool may_write_through(const WholeTensor&) { return false; }
inline bool has_free_access(const WholeTensor&) { return true; }
inline bool adds_atomically(const WholeTensor& tensor) { return tensor.access == Access::add; }
inline bool has_one_gradient(const WholeTensor& tensor) { return tensor.access == Access::view; }
inline bool requires_contiguous(const WholeTensor& tensor) { return tensor.contiguous_only; }
bool shares_place(const WholeTensor& tensor, const Argument& argument);
inline bool lies_in_block(const WholeTensor&, const Argument&) { return false; }
inline bool counts_along_dimensions(const WholeTensor&) { return false; }
void list_records(const WholeTensor& tensor, const Argument& argument, std::int64_t index, RecordList& list);
inline void list_resources(const WholeTensor&, const Call&, std::int64_t, ResourceList&) {}

}  // namespace kf::manifest::kinds

// The resources of one launch, without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/driver_objects.h"

namespace kf::detail {

/// Up to `most` resources. Made for every launch: places without one are neither made nor destroyed.
template <std::size_t most>
class FewResources {
public:
    FewResources() {}  // NOLINT(modernize-use-equals-default,cppcoreguidelines-pro-type-member-init)
    FewResources(const FewResources&) = delete;
    FewResources& operator=(const FewResources&) = delete;
    ~FewResources() { std::destroy_n(first(), count_); }

    /// There is room for it.
    void add(driver::Resource resource) {
        new (places_.data() + count_ * sizeof resource) driver::Resource(std::move(resource));
        ++count_;
    }
    [[nodiscard]] std::span<const driver::Resource> all() const { return {first(), count_}; }

private:
    [[nodiscard]] driver::Resource* first() { return reinterpret_cast<driver::Resource*>(places_.data()); }
    [[nodiscard]] const driver::Resource* first() const {
        return reinterpret_cast<const driver::Resource*>(places_.data());
    }

    std::size_t count_ = 0;
    alignas(driver::Resource) std::array<std::byte, most * sizeof(driver::Resource)> places_;
};

}  // namespace kf::detail

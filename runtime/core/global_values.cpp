// Values of globals by name.
#include <kf/global_values.h>

#include <algorithm>

namespace kf::detail {
namespace {

template <class Values>
auto place_of(Values& values, std::string_view name) {
    return std::lower_bound(values.begin(), values.end(), name,
                            [](const auto& one, std::string_view wanted) { return one.first < wanted; });
}

}  // namespace

const GlobalValues::Value* GlobalValues::find(std::string_view name) const {
    const auto found = place_of(values_, name);
    return found == values_.end() || found->first != name ? nullptr : &found->second;
}

void GlobalValues::put(const std::string& name, Value value) {
    const auto found = place_of(values_, name);
    if (found == values_.end() || found->first != name) {
        values_.emplace(found, name, std::move(value));
    } else {
        found->second = std::move(value);
    }
}

}  // namespace kf::detail

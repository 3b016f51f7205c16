// Values of a module's global parameters, as generated .set() functions keep them.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <kf/any_tensor.h>
#include <kf/tensor.h>
#include <kf/types.h>

namespace kf::detail {

/// What some globals are set to, by name. Immutable once functions share it.
class GlobalValues {
public:
    using Value = std::variant<std::vector<std::byte>, AnyTensor>;

    /// Sets a value; one that is absent stays as it is.
    template <HostElement T>
    void set(const std::string& name, const std::optional<T>& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!value) return;
        std::vector<std::byte> bytes(sizeof(T));
        std::memcpy(bytes.data(), &*value, sizeof(T));
        values_.insert_or_assign(name, std::move(bytes));
    }
    /// Sets a tensor; a null one stays as it is.
    template <class T, std::size_t N>
    void set(const std::string& name, const Tensor<T, N>& tensor) {
        if (tensor.any()) values_.insert_or_assign(name, tensor.any());
    }

    /// Null where it isn't set.
    [[nodiscard]] const Value* find(std::string_view name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : &found->second;
    }

private:
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace kf::detail

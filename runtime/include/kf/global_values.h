// Values of a module's global parameters, as generated .set() functions keep them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <kf/any_tensor.h>
#include <kf/buffer.h>
#include <kf/pointer.h>
#include <kf/sampler.h>
#include <kf/tensor.h>
#include <kf/texture.h>
#include <kf/types.h>

namespace kf::detail {

/// The values that some globals are set to, by name. Immutable once functions share it.
class GlobalValues {
public:
    /// A pointer, and the memory that it leads to, where that is known.
    struct Address {
        std::uint64_t number = 0;
        AnyTensor memory;
    };
    using Value = std::variant<std::vector<std::byte>, AnyTensor, Address, AnyTexture, Sampler>;

    /// Sets a value; one that is absent stays as it is.
    template <HostElement T>
    void set(const std::string& name, const std::optional<T>& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!value) return;
        std::vector<std::byte> bytes(sizeof(T));
        std::memcpy(bytes.data(), &*value, sizeof(T));
        put(name, std::move(bytes));
    }
    /// Sets a tensor; a null one stays as it is.
    template <class T, std::size_t N>
    void set(const std::string& name, const Tensor<T, N>& tensor) {
        if (tensor.any()) put(name, tensor.any());
    }
    /// Sets a buffer; a null one stays as it is.
    template <class T>
    void set(const std::string& name, const Buffer<T>& buffer) {
        if (buffer) put(name, buffer.any());
    }
    template <class T>
    void set(const std::string& name, const RWBuffer<T>& buffer) {
        if (buffer) put(name, buffer.any());
    }
    /// Sets a pointer; one that is absent stays as it is.
    template <class T>
    void set(const std::string& name, const std::optional<Pointer<T>>& pointer) {
        if (pointer) put(name, Address{pointer->address_, pointer->memory_});
    }
    /// Sets a texture, or one with a sampler; a null one stays as it is.
    template <AnyOfTexture T>
    void set(const std::string& name, const T& texture) {
        if (texture) put(name, texture.any());
    }
    void set(const std::string& name, const Sampler& sampler) {
        if (sampler) put(name, sampler);
    }

    /// Returns the value of the global; null where it isn't set.
    [[nodiscard]] const Value* find(std::string_view name) const;

private:
    void put(const std::string& name, Value value);

    std::vector<std::pair<std::string, Value>> values_;  ///< by name: <map> takes long to compile
};

}  // namespace kf::detail

// An owning pointer to Slang's reference-counted objects.
#pragma once

#include <utility>

namespace kf::gen {

/// Owns one reference. Not thread-safe, as Slang's objects are not.
template <class T>
class ComPtr {
public:
    ComPtr() = default;
    ComPtr(const ComPtr& other) : object_(other.object_) {
        if (object_ != nullptr) {
            object_->addRef();
        }
    }
    ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    ComPtr& operator=(ComPtr other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~ComPtr() { reset(); }

    void reset() {
        if (T* old = std::exchange(object_, nullptr)) {
            old->release();
        }
    }
    [[nodiscard]] T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    /// Returns the place for Slang's output parameters, which hand over a reference.
    T** out() {
        reset();
        return &object_;
    }

private:
    T* object_ = nullptr;
};

}  // namespace kf::gen

// The items of one call from Python: what was given for each, and what is known of it.
#pragma once

#include <kf/invoke.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <utility>
#include <vector>

#include "core/kinds/questions.h"
#include "core/pass_rules.h"
#include "core/roles.h"
#include "python/crossing.h"
#include "python/encoder.h"
#include "python/errors.h"
#include "python/function.h"
#include "python/given_object.h"
#include "python/host_argument.h"

namespace kf::python {

class CallItems {
public:
    CallItems(const FunctionInfo& info, const Reader& reader, detail::PassKind pass, RecordedCalls* encoder)
        : info_(info), reader_(reader), pass_(pass), encoder_(encoder) {}

    [[nodiscard]] const FunctionInfo& info() const { return info_; }
    /// What reads other objects of the call, such as gradients.
    [[nodiscard]] const Reader& reader() const { return reader_; }
    [[nodiscard]] detail::PassKind pass() const { return pass_; }
    /// Whether the call runs later, when an encoder is submitted.
    [[nodiscard]] bool is_recorded() const { return encoder_ != nullptr; }
    /// The overload.
    [[nodiscard]] const manifest::Call& call() const { return *call_; }

    [[nodiscard]] std::size_t size() const { return hosts_.size(); }
    [[nodiscard]] const HostItem& item(std::size_t i) const { return info_.items[overload_][i]; }
    [[nodiscard]] Where where(std::size_t i) const { return {info_.function.name, item(i).name}; }
    /// The leaf that stands for item `i`: of a struct its first.
    [[nodiscard]] const manifest::Argument& leaf(std::size_t i) const {
        return call_->arguments[item(i).leaf];
    }
    [[nodiscard]] Host& host(std::size_t i) { return hosts_[i]; }
    [[nodiscard]] ResultForm host_form(std::size_t i) const { return hosts_[i].form; }
    /// The tensor that the call made for item `i`.
    [[nodiscard]] const AnyTensor& made(std::size_t i) const { return args_[i].allocated; }
    /// The texture that the call made for item `i`.
    [[nodiscard]] const AnyTexture& made_texture(std::size_t i) const { return args_[i].allocated_texture; }

    [[nodiscard]] bool is_output(std::size_t i) const { return is_only_written(item(i).role); }
    [[nodiscard]] bool is_written(std::size_t i) const {
        return item(i).role != manifest::Role::in && runs_forward(pass_);
    }
    /// Its gradient has one element for each call.
    [[nodiscard]] bool is_pushed(std::size_t i) const {
        return runs_backward(pass_) && manifest::is_pushed(leaf(i));
    }
    /// An input whose elements the call writes: what was given must be able to take them.
    [[nodiscard]] bool writes_input(std::size_t i) const {
        return leaf(i).role == manifest::Role::in && stores_elements(leaf(i), pass_);
    }
    /// What the host gives or takes for item `i` may lie in its own memory while kernels use it: they touch
    /// each element once or a few times.
    [[nodiscard]] bool may_be_mapped(std::size_t i) const {
        return is_small_ && manifest::passes_tensor(leaf(i)) && !manifest::has_free_access(leaf(i));
    }
    /// The memory of a tensor of PyTorch's on CUDA, as the call's device has it, for item `i`.
    [[nodiscard]] AnyTensor on_device_of_call(const TorchTensor& tensor, std::size_t i, bool is_read,
                                              bool is_written) const {
        if (crossing_ != nullptr) return cross(*crossing_, tensor.memory, is_read, is_written, where(i));
        if (encoder_ != nullptr) return keep_torch(tensor, context_);
        return tensor.on_device.context == context_ ? tensor.on_device.any : lend(tensor.memory, context_);
    }
    /// The result is a tensor of PyTorch's on the CPU.
    [[nodiscard]] bool returns_torch_host(std::size_t i) const {
        return returns_torch_host_ && !hosts_[i].as_array() && hosts_[i].form != ResultForm::tensor &&
               is_torch_made(i) && item(i).role != manifest::Role::in;
    }
    /// PyTorch has tensors for what item `i` is.
    [[nodiscard]] bool is_torch_made(std::size_t i) const {
        return item(i).structure == nullptr || item(i).scalars != nullptr;
    }
    /// A call that is given tensors of PyTorch's returns its values as such, too, where like_torch() is.
    [[nodiscard]] bool returns_torch_values() const { return static_cast<bool>(reader_.torch.first()); }
    /// The first tensor of PyTorch's on a GPU; null where all are on the CPU.
    [[nodiscard]] PyObject* like_torch() const { return like_torch_; }
    /// The call may write the elements of item `i`, where it is a tensor.
    [[nodiscard]] bool is_torch_written(std::size_t i) const {
        return is_written(i) || writes_input(i) || may_write_through(leaf(i));
    }
    /// Kernels may use the array that was given for item `i` where it lies: the call waits for them.
    [[nodiscard]] bool waits() const { return waits_; }
    [[nodiscard]] bool may_be_imported(std::size_t i) const {
        return waits_ && hosts_[i].array && !hosts_[i].is_copied && manifest::passes_memory(leaf(i));
    }
    /// The shapes of all that is given, by leaf.
    [[nodiscard]] std::vector<std::pair<std::size_t, Dims>> leaf_shapes() const {
        std::vector<std::pair<std::size_t, Dims>> shapes;
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            if (hosts_[i].given) shapes.emplace_back(item(i).leaf, hosts_[i].shape);
        }
        return shapes;
    }

protected:
    std::array<std::byte, 8192> room_;
    /// Where the call's lists are: most fit into `room_`, and need nothing of the heap.
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    const FunctionInfo& info_;
    const Reader& reader_;
    detail::PassKind pass_;
    RecordedCalls* encoder_;
    std::size_t overload_ = 0;
    std::pmr::vector<Host> hosts_{&memory_};  ///< one an item
    std::pmr::vector<detail::Arg> args_{&memory_};
    const manifest::Call* call_ = nullptr;
    ContextPtr context_;                           ///< that the call runs on
    std::unique_ptr<interop::Crossing> crossing_;  ///< of a call of Vulkan's kernels on CUDA's memory
    bool returns_torch_host_ = false;
    PyObject* like_torch_ = nullptr;
    bool is_small_ = false;  ///< a forward call, made at once, of few elements
    bool waits_ = false;     ///< until the device is done
};

/// Refuses to return structs as the tensor that is asked for.
[[noreturn]] inline void refuse_form(const CallItems& items, std::size_t i) {
    refuse(ErrorCode::type_mismatch, items.where(i),
           items.item(i).structure->type + " structs come back as what they are, not as a " +
               (items.host_form(i) == ResultForm::torch ? "torch.Tensor" : "kf.Tensor"));
}

}  // namespace kf::python

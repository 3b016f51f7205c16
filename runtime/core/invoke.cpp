// Runs a call: gathers the arguments, binds, allocates, records, and reads values back.
#include <kf/half.h>
#include <kf/invoke.h>

#include <array>
#include <cstring>
#include <memory_resource>

#include "core/bind.h"
#include "core/bind_error.h"
#include "core/convert.h"
#include "core/encoder_state.h"
#include "core/generator.h"
#include "core/module_state.h"
#include "core/overlap.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::GradMode;
using AllocationPointer = std::shared_ptr<driver::Allocation>;

/// A tensor's scalars: its own dimensions, then its element's.
ScalarView flatten(const AnyTensor& tensor) {
    ScalarView view;
    if (!tensor) {
        return view;
    }
    const TensorState& state = *tensor.state();
    view.present = true;
    view.address = state.address();
    const std::int64_t scalars = state.element.scalars();
    for (std::size_t d = 0; d < state.shape.size(); ++d) {
        view.extents.push_back(state.shape[d]);
        view.strides.push_back(state.strides[d] * scalars);
    }
    for (std::size_t d = 0; d < state.element.rank; ++d) {
        view.extents.push_back(state.element.extents[d]);
        view.strides.push_back(d + 1 < state.element.rank ? state.element.extents[d + 1] : 1);
    }
    return view;
}

/// `argument` is null where the call has no such argument, which bind() refuses.
ArgumentView view_of(const Argument* argument, const Arg& arg, PassKind pass) {
    ArgumentView view;
    view.kind = arg.kind;
    if (arg.kind == Arg::Kind::tensor) {
        view.scalar = arg.tensor->element().scalar;
        view.data = flatten(*arg.tensor);
        if (pass == PassKind::backward) {
            view.grad_in = flatten(arg.tensor->grad_in());
            view.grad_out = flatten(arg.tensor->grad_out());
        }
    }
    if (arg.kind == Arg::Kind::generator && argument != nullptr &&
        argument->kind == manifest::ArgumentKind::generator) {
        view.generator = arg.value;
        view.data = view_of_generator(*argument, arg.value);
    }
    view.value_gradient = arg.kind == Arg::Kind::value && arg.gradient != nullptr;
    return view;
}

template <class T>
void add_scalars(void* target, const std::byte* source, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i) * sizeof(T);
        T sum;
        T part;
        std::memcpy(&sum, static_cast<std::byte*>(target) + at, sizeof sum);
        std::memcpy(&part, source + at, sizeof part);
        sum = static_cast<T>(sum + part);
        std::memcpy(static_cast<std::byte*>(target) + at, &sum, sizeof sum);
    }
}

void add_gradient(const ElementType& element, void* target, const std::byte* source) {
    switch (element.scalar) {
        case ScalarType::float16: return add_scalars<half>(target, source, element.scalars());
        case ScalarType::float64: return add_scalars<double>(target, source, element.scalars());
        default: return add_scalars<float>(target, source, element.scalars());
    }
}

class Invocation {
public:
    Invocation(const FunctionRef& ref, std::size_t call_index, PassKind pass, std::span<Arg> args,
               Encoder* encoder, const Device* on, const LaunchKey* key)
        : ref_(ref),
          call_index_(call_index),
          key_(key),
          module_(*ref.module),
          function_(module_.manifest().functions.at(ref.function)),
          call_(function_.calls.at(call_index)),
          pass_(pass),
          args_(args),
          device_(on == nullptr ? *module_.device().state() : *on->state()),
          driver_(device_.driver()),
          encoder_(encoder),
          memory_(stack_.data(), stack_.size()),
          views_(&memory_),
          uses_(&memory_),
          binding_(&memory_) {}

    void run(const Dims* shape) {
        views_.reserve(args_.size());
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const bool known = i < call_.arguments.size();
            views_.push_back(view_of(known ? &call_.arguments[i] : nullptr, args_[i], pass_));
        }
        const driver::Info& info = driver_.info();
        const BindRequest request{
            module_.manifest(), function_, call_, pass_, views_, shape, {info.processors, info.max_groups}};
        check_encoder(request);
        bind(request, binding_);
        check_devices(request);
        prepare(request);
        record(request);
        finish();
    }

private:
    void check_encoder(const BindRequest& request) {
        if (encoder_ == nullptr) {
            return;
        }
        EncoderState& state = encoder_->state();
        if (!state.device->is_same(device_)) {
            fail(request, ErrorCode::device_mismatch, "the encoder is of another device than the module");
        }
        recorder_ = state.recorder.get();
        for (std::size_t i = 0; i < args_.size() && i < call_.arguments.size(); ++i) {
            const Argument& argument = call_.arguments[i];
            if (pass_ == PassKind::forward && argument.kind == manifest::ArgumentKind::value &&
                is_output(argument)) {
                fail(request, i, ErrorCode::type_mismatch,
                     "a value can't be an output of a recorded call, for it would have to be read back; "
                     "generate the "
                     "call with a tensor[0] there, or call it directly");
            }
            if (pass_ == PassKind::backward && views_[i].value_gradient && is_input(argument)) {
                fail(request, i, ErrorCode::type_mismatch,
                     "a value's gradient can't be an output of a recorded call, for it would have to be read "
                     "back; "
                     "pass a tensor, or call it directly");
            }
        }
    }

    void check_devices(const BindRequest& request) {
        if (!device_.is_same(*module_.device().state())) {
            fail(request, ErrorCode::device_mismatch, "the stream is of another device than the module");
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (args_[i].kind == Arg::Kind::tensor && !args_[i].tensor->state()->device->is_same(device_)) {
                fail(request, i, ErrorCode::device_mismatch,
                     "the tensor is on device " + args_[i].tensor->device().info().id + ", the module on " +
                         device_.info().id +
                         (args_[i].tensor->device().info().id == device_.info().id ? " (opened another time)"
                                                                                   : ""));
            }
        }
    }

    /// All that can still fail and leaves no trace: kernel and memory.
    void prepare(const BindRequest& request) {
        if (binding_.total > 0) {
            if (recorder_ == nullptr && binding_.temporary.read_end != binding_.temporary.read_begin) {
                driver_.check_read_back();
            }
            kernel_ = module_.kernel(static_cast<std::size_t>(binding_.kernel), driver_);
            if (kernel_->resident_groups != 0) {
                binding_.groups = count_groups(request, binding_, kernel_->resident_groups);
            }
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (binding_.arguments[i].allocate) {
                AnyTensor made =
                    make_tensor(module_.device().state(), device_, element_type(call_.arguments[i].element),
                                binding_.arguments[i].allocate_shape);
                binding_.arguments[i].data.address = made.address();
                args_[i].allocated = std::move(made);
            }
        }
        if (binding_.temporary.size > 0) {
            temporary_ = device_.allocate_scratch(static_cast<std::uint64_t>(binding_.temporary.size));
        }
        collect_uses(request);
    }

    void use(const AllocationPointer& allocation, bool writes) {
        if (!allocation) {
            return;
        }
        for (driver::Use& known : uses_) {
            if (known.allocation == allocation) {
                known.writes = known.writes || writes;
                return;
            }
        }
        uses_.push_back({allocation, writes});
    }

    void collect_uses(const BindRequest& request) {
        uses_.reserve(3 * args_.size() + 1);
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const Argument& argument = call_.arguments[i];
            const BoundArgument& bound = binding_.arguments[i];
            const AnyTensor* tensor =
                args_[i].kind == Arg::Kind::tensor ? args_[i].tensor : &args_[i].allocated;
            if (!*tensor) {
                continue;
            }
            if (reads_data(argument, request.pass)) {
                use(tensor->state()->allocation, pass_ == PassKind::forward && writes_data(argument));
            }
            if (bound.grad_in.present) {
                use(tensor->grad_in().state()->allocation, false);
            }
            if (bound.mode != GradMode::none) {
                use(tensor->grad_out().state()->allocation, true);
            }
        }
        use(temporary_, true);
    }

    void fill(const AllocationPointer& target, std::uint64_t offset, std::uint64_t size) {
        if (recorder_ != nullptr) {
            recorder_->fill(target, offset, size, 0);
        } else {
            driver_.fill(target, offset, size, 0);
        }
    }

    void upload(std::int64_t at, const void* value, const Argument& argument) {
        if (at >= 0 && value != nullptr) {
            driver_.upload(temporary_, static_cast<std::uint64_t>(at),
                           std::as_bytes(std::span(static_cast<const char*>(value),
                                                   element_type(argument.element).size())));
        }
    }

    /// Without any calls too: nothing was added to them.
    void zero_overwritten() {
        for (std::size_t i = 0; i < args_.size() && pass_ == PassKind::backward; ++i) {
            if (!call_.arguments[i].overwrite || args_[i].kind != Arg::Kind::tensor ||
                !args_[i].tensor->grad_out()) {
                continue;
            }
            const TensorState& gradient = *args_[i].tensor->grad_out().state();
            const auto bytes = static_cast<std::uint64_t>(gradient.size) * gradient.element.size();
            if (bytes > 0) {
                fill(gradient.allocation, gradient.offset, bytes);
            }
        }
    }

    void record(const BindRequest& request) {
        zero_overwritten();
        if (binding_.total == 0) {
            return;
        }
        if (binding_.temporary.zeroed > 0) {
            fill(temporary_, 0, static_cast<std::uint64_t>(binding_.temporary.zeroed));
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const BoundArgument& bound = binding_.arguments[i];
            upload(bound.value_at, args_[i].value, call_.arguments[i]);
            upload(bound.grad_in_at, args_[i].gradient, call_.arguments[i]);
        }
        const auto index = static_cast<std::size_t>(binding_.kernel);
        const manifest::BlockLayout& layout = module_.layout(index);
        std::pmr::vector<std::byte> block(static_cast<std::size_t>(layout.size), &memory_);
        std::pmr::vector<const void*> values(&memory_);
        values.reserve(args_.size());
        for (const Arg& arg : args_) {
            values.push_back(arg.value);
        }
        pack(call_, module_.manifest().kernels[index], layout, binding_, values,
             temporary_ ? temporary_->address : 0, block);
        const driver::Dispatch dispatch{kernel_, binding_.groups, block, uses_};
        if (recorder_ != nullptr) {
            recorder_->dispatch(dispatch);
        } else {
            driver_.dispatch(dispatch);
            if (key_ != nullptr && key_->arguments().data() == args_.data()) {
                module_.launches().remember(ref_, call_index_, request, binding_, *key_, kernel_, block,
                                            layout);
            }
        }
    }

    /// Values come back: this waits for the device.
    void finish() {
        const TemporaryPlan& plan = binding_.temporary;
        if (recorder_ != nullptr || plan.read_end == plan.read_begin) {
            return;
        }
        std::pmr::vector<std::byte> bytes(static_cast<std::size_t>(plan.read_end - plan.read_begin),
                                          &memory_);
        driver_.read_back(temporary_, static_cast<std::uint64_t>(plan.read_begin), bytes);
        const std::byte* base = bytes.data() - plan.read_begin;
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const ElementType element = element_type(call_.arguments[i].element);
            const BoundArgument& bound = binding_.arguments[i];
            if (pass_ == PassKind::forward && bound.value_at >= 0 && args_[i].out_value != nullptr) {
                std::memcpy(args_[i].out_value, base + bound.value_at, element.size());
            }
            if (bound.gradient_at >= 0) {
                add_gradient(element, args_[i].gradient, base + bound.gradient_at);
            }
        }
    }

    const FunctionRef& ref_;
    std::size_t call_index_;
    const LaunchKey* key_;  ///< null when the launch isn't to be remembered
    const ModuleState& module_;
    const manifest::Function& function_;
    const manifest::Call& call_;
    PassKind pass_;
    std::span<Arg> args_;
    DeviceState& device_;
    driver::Device& driver_;
    Encoder* encoder_;
    driver::Recorder* recorder_ = nullptr;
    std::shared_ptr<driver::Kernel> kernel_;
    AllocationPointer temporary_;

    // Calls of up to a dozen arguments allocate nothing on the heap.
    std::array<std::byte, 24'576> stack_;
    std::pmr::monotonic_buffer_resource memory_;
    std::pmr::vector<ArgumentView> views_;
    std::pmr::vector<driver::Use> uses_;
    Binding binding_;
};

}  // namespace

void invoke(const FunctionRef& function, std::size_t call_index, PassKind pass, std::span<Arg> args,
            Encoder* encoder, const Dims* shape, const Device* on) {
    LaunchKey key;
    const bool known = encoder == nullptr && shape == nullptr && key.take(args, pass);
    if (known &&
        function.module->launches().launch(*function.module, function, call_index, pass, key, args, on)) {
        return;
    }
    Invocation(function, call_index, pass, args, encoder, on, known ? &key : nullptr).run(shape);
}

}  // namespace kf::detail

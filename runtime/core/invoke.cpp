// Runs a call: gathers the arguments, binds, allocates, records, and reads values back.
#include <kf/half.h>
#include <kf/invoke.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>

#include "core/awaited_outputs.h"
#include "core/bind.h"
#include "core/bind_error.h"
#include "core/command_log.h"
#include "core/command_target.h"
#include "core/convert.h"
#include "core/encoder_state.h"
#include "core/enum_values.h"
#include "core/fast_launch.h"
#include "core/given_globals.h"
#include "core/host_scalars.h"
#include "core/items.h"
#include "core/kept_call.h"
#include "core/kinds/binding.h"
#include "core/leaf_args.h"
#include "core/module_state.h"
#include "core/observers.h"
#include "core/overlap.h"
#include "core/reports.h"
#include "core/sampler_state.h"
#include "core/tensor_state.h"
#include "core/texture_rules.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::GradMode;
using AllocationPointer = std::shared_ptr<driver::Allocation>;

/// Calls that a launch may have and still read what is uploaded for it from the host's memory.
constexpr std::int64_t few_calls = 64;

/// Gives a gradient that has extent 1 where its argument has more the argument's extents: calls share its
/// elements, as if they were broadcast.
void widen_gradient(ScalarView& gradient, const Dims& extents) {
    if (!gradient.present || !sums_into(gradient.extents, extents)) {
        return;
    }
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (gradient.extents[d] != extents[d]) {
            gradient.extents[d] = extents[d];
            gradient.strides[d] = 0;
        }
    }
}

/// `argument` is null where the call has no such argument, which bind() refuses.
ArgumentView view_of(const Argument* argument, const Arg& arg, PassKind pass) {
    ArgumentView view;
    view.kind = arg.kind;
    if (arg.kind == Arg::Kind::tensor) view.tensor_name = arg.tensor->state()->name.get();
    if (arg.kind == Arg::Kind::tensor && argument != nullptr && argument->pitch != 0) {
        view.scalar = argument->element.scalar;
        view.data = flatten_field(*arg.tensor, *argument);
        if (runs_backward(pass)) {
            view.grad_in = flatten_field(arg.tensor->grad_in(), *argument);
            view.grad_out = flatten_field(arg.tensor->grad_out(), *argument);
            view.grad_is_new = arg.tensor->state()->grad_is_new;
        }
    } else if (arg.kind == Arg::Kind::tensor) {
        view.scalar = arg.tensor->element().scalar;
        view.data = flatten(*arg.tensor);
        if (runs_backward(pass)) {
            const AnyTensor& flows_in = arg.tensor->grad_in();
            const AnyTensor& flows_out = arg.tensor->grad_out();
            const bool one = argument != nullptr && has_one_gradient(*argument) &&
                             (!flows_out || !flows_in || flows_in.state() == flows_out.state());
            if (!one) view.grad_in = flatten(flows_in);
            view.grad_out = flatten(one ? arg.tensor->grad() : flows_out);
            view.grad_is_new = arg.tensor->state()->grad_is_new;
        }
    }
    if (argument != nullptr) {
        read_given(*argument, arg, view);
        if (!is_pushed(*argument)) widen_gradient(view.grad_out, view.data.extents);
    }
    const bool pushes = argument != nullptr && is_pushed(*argument);
    view.value_gradient =
        arg.kind == Arg::Kind::value && (pushes ? arg.pushed != nullptr : arg.gradient != nullptr);
    if (pushes && view.value_gradient && *arg.pushed) {
        view.pushed = arg.pushed;
        view.grad_out = flatten(*arg.pushed);
    }
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

/// The calls that hooks recorded.
ObservedCalls observed_in(const CommandLog* before) {
    ObservedCalls calls;
    if (before == nullptr) return calls;
    for (const CommandLog::Part& part : before->parts()) {
        calls.insert(calls.end(), part.calls.begin(), part.calls.end());
    }
    return calls;
}

class Invocation {
public:
    Invocation(const FunctionRef& ref, std::size_t call_index, PassKind pass, std::span<Arg> args,
               Encoder* encoder, const Device* on, const LaunchKey* key, const CommandLog* before,
               LaunchMarks* marks)
        : ref_(ref),
          call_index_(call_index),
          key_(key),
          before_(before),
          marks_(marks),
          module_(*ref.module),
          function_(module_.manifest().functions.at(ref.function)),
          call_(function_.calls.at(call_index)),
          pass_(pass),
          given_(args),
          device_(on == nullptr ? *module_.device().state() : *on->state()),
          driver_(device_.driver()),
          encoder_(encoder),
          memory_(stack_.data(), stack_.size()),
          fields_(&memory_),
          args_(args),
          views_(&memory_),
          uses_(&memory_),
          resources_(&memory_),
          binding_(&memory_) {}

    void run(const Dims* shape) {
        take_fields();
        views_.reserve(args_.size());
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const bool known = i < call_.arguments.size();
            views_.push_back(view_of(known ? &call_.arguments[i] : nullptr, args_[i], pass_));
        }
        const driver::Info& info = driver_.info();
        const BindRequest request{module_.manifest(),
                                  function_,
                                  call_,
                                  pass_,
                                  views_,
                                  shape,
                                  {info.processors, info.max_groups[0], info.calls_per_thread,
                                   info.max_groups, info.buffer_alignment, info.max_buffer},
                                  ref_.options};
        check_encoder(request);
        bind(request, binding_);
        check_devices(request);
        prepare(request);
        record(request);
        finish();
        keep_values();
    }

private:
    /// Structs that were given whole become their fields.
    void take_fields() {
        if (!gives_structs(call_, given_.size())) return;
        add_leaves(call_, given_, fields_);
        args_ = fields_;
    }

    void check_encoder(const BindRequest& request) {
        if (encoder_ == nullptr) {
            return;
        }
        EncoderState& state = encoder_->state();
        if (!state.device->is_same(device_)) {
            fail(request, ErrorCode::device_mismatch, "the encoder is of another device than the module");
        }
        recorder_ = state.recorder.get();
        kept_ = kept_calls(state);
        for (std::size_t i = 0; i < args_.size() && i < call_.arguments.size(); ++i) {
            const Argument& argument = call_.arguments[i];
            if (runs_forward(pass_) && passes_value(argument) && is_output(argument) && !is_kept_value(i)) {
                fail(request, i, ErrorCode::type_mismatch,
                     std::string("a value can't be an output of a ") + recorded() +
                         " call, for it would have to be read back; generate the call with a tensor[0] "
                         "there, or call it directly");
            }
            if (runs_backward(pass_) && views_[i].value_gradient && is_input(argument)) {
                fail(request, i, ErrorCode::type_mismatch,
                     std::string("a value's gradient can't be an output of a ") + recorded() +
                         " call, for it would have to be read back; pass a tensor, or call it directly");
            }
        }
    }

    [[nodiscard]] bool is_kept_value(std::size_t i) const {
        return recorder_ != nullptr && kept_ == nullptr && runs_forward(pass_) &&
               asks_for_tensor(call_.arguments[i], args_[i]);
    }

    /// Makes these values' tensors of the memory that the kernel writes to.
    void keep_values() {
        for (std::size_t item = 0; recorder_ != nullptr && item < given_.size(); ++item) {
            const std::size_t i = manifest::leaf_of(call_, item);
            if (!is_kept_value(i)) continue;
            const auto at = static_cast<std::uint64_t>(binding_.arguments[i].value_at);
            given_[item].allocated = one_element(module_.device().state(), temporary_, at,
                                                 element_type(call_.arguments[i].element));
        }
    }

    [[nodiscard]] const char* recorded() const { return kept_ != nullptr ? "prepared" : "recorded"; }

    void check_devices(const BindRequest& request) {
        if (!device_.is_same(*module_.device().state())) {
            fail(request, ErrorCode::device_mismatch, "the stream is of another device than the module");
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (const AnyTensor* memory = memory_of(args_[i]);
                memory != nullptr && !memory->state()->device->is_same(device_)) {
                fail(request, i, ErrorCode::device_mismatch,
                     "the tensor " + on_other_device(memory->device()));
            }
            if (const AnyTexture* texture = views_[i].texture;
                texture != nullptr && !texture->state()->device->is_same(device_)) {
                fail(request, i, ErrorCode::device_mismatch,
                     "the texture " + on_other_device(texture->device()));
            }
            if (const AnyTensor* pushed = views_[i].pushed;
                pushed != nullptr && !pushed->state()->device->is_same(device_)) {
                fail(request, i, ErrorCode::device_mismatch,
                     "`pushed`: the tensor " + on_other_device(pushed->device()));
            }
        }
        for (const auto* told : {&request.options.reads, &request.options.writes}) {
            for (const AnyTensor& memory : *told) {
                if (memory && !memory.state()->device->is_same(device_)) {
                    fail(request, ErrorCode::device_mismatch,
                         (told == &request.options.reads ? "reads: the tensor " : "writes: the tensor ") +
                             on_other_device(memory.device()));
                }
            }
        }
    }

    /// The memory that an argument says it lies in, or leads to; null where there is none.
    static const AnyTensor* memory_of(const Arg& arg) {
        const bool has_memory = arg.kind == Arg::Kind::tensor || arg.kind == Arg::Kind::pointer;
        return has_memory && arg.tensor != nullptr && *arg.tensor ? arg.tensor : nullptr;
    }

    [[nodiscard]] std::string on_other_device(const Device& device) const {
        return detail::on_other_device(device, device_);
    }

    [[nodiscard]] CommandTarget target() const { return {device_, recorder_, marks_, kept_ != nullptr}; }

    /// All that can still fail and leaves no trace: kernel and memory.
    void prepare(const BindRequest& request) {
        if (binding_.total > 0) {
            if (recorder_ == nullptr && binding_.temporary.read_end != binding_.temporary.read_begin) {
                driver_.check_read_back();
            }
            kernel_ = module_.kernel(static_cast<std::size_t>(binding_.kernel), driver_);
            if (kernel_->resident_groups != 0 || kernel_->calls_per_thread != 0) {
                size_launch(request, binding_, kernel_->resident_groups, kernel_->calls_per_thread);
            }
        }
        for (std::size_t i = 0; i < given_.size(); ++i) {
            allocate(i);
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (binding_.arguments[i].makes_pushed) make_pushed(i);
        }
        if (binding_.temporary.size > 0) {
            take_temporary(request, static_cast<std::uint64_t>(binding_.temporary.size));
        }
        collect_uses(request);
        collect_resources();
        if (call_.reports() && binding_.total > 0) add_reports();
    }

    /// Gives the launch a number, under which its kernel reports.
    void add_reports() {
        ReportingCall call{module_.artifact(), ref_.function, call_index_, pass_, binding_.shape, {}, {}};
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const AnyTensor* const tensor =
                args_[i].kind == Arg::Kind::tensor ? args_[i].tensor : &args_[i].allocated;
            const std::string name = "argument '" + call_.arguments[i].name + "'";
            const auto add = [&](const std::string& what, const CallView& view, const AnyTensor& memory) {
                if (view.address == 0 || !memory || memory.state()->allocation == nullptr) return;
                const driver::Allocation& allocation = *memory.state()->allocation;
                call.memory.push_back({what, view.address, allocation.address + allocation.size});
            };
            if (!*tensor) continue;
            const BoundArgument& bound = binding_.arguments[i];
            add(name, bound.data, *tensor);
            if (runs_backward(pass_)) {
                add("the gradient of " + name, bound.grad_in, tensor->grad_in());
                add("the gradient of " + name, bound.grad_out, tensor->grad_out());
            }
        }
        for (const driver::Resource& resource : resources_) {
            const auto* buffer = std::get_if<driver::BufferRange>(&resource);
            call.buffers.push_back(buffer == nullptr ? 0 : buffer->allocation->address + buffer->offset);
        }
        Reports& reports = device_.reports();
        binding_.reports = reports.add(std::move(call), recorder_ != nullptr);
        use(reports.buffer(), true);
    }

    void take_temporary(const BindRequest& request, std::uint64_t size) {
        if (kept_ != nullptr) {
            take_own_temporary(size);
            return;
        }
        bool keeps = false;
        for (std::size_t i = 0; i < args_.size(); ++i) keeps |= is_kept_value(i);
        temporary_ = keeps                             ? device_.allocate(size)
                     : binding_.temporary.stays_zero() ? device_.zeros(size)
                                                       : nullptr;
        is_zero_ = temporary_ != nullptr && !keeps;
        if (!temporary_ && works_beside_host(request)) {
            temporary_ = device_.allocate_mapped(size);
            host_ = temporary_ ? temporary_->host : nullptr;
        }
        if (!temporary_) temporary_ = device_.allocate_scratch(size);
    }

    /// Whether the temporary memory may be the host's, too: the host waits for what is in it, few calls read
    /// it across the bus, and none of them meet in it.
    [[nodiscard]] bool works_beside_host(const BindRequest& request) const {
        const TemporaryPlan& plan = binding_.temporary;
        return recorder_ == nullptr && plan.read_begin == 0 && plan.read_end > 0 &&
               request.call.dispatch == manifest::Dispatch::elements && binding_.total <= few_calls &&
               std::ranges::none_of(binding_.arguments, [](const BoundArgument& bound) {
                   return bound.gradient_at >= 0 && bound.mode != GradMode::injective;
               });
    }

    /// Takes temporary memory for a call that is kept: what is zero before and after each run becomes so
    /// once.
    void take_own_temporary(std::uint64_t size) {
        temporary_ = device_.allocate(size);
        is_zero_ = binding_.temporary.stays_zero();
        if (is_zero_) {
            driver_.fill(temporary_, 0, temporary_->size / 4 * 4, 0);
        }
    }

    /// Memory that a call works in, besides the temporary; a kept one has its own.
    [[nodiscard]] AllocationPointer take_scratch(std::uint64_t size) const {
        return kept_ != nullptr ? device_.allocate(size) : device_.allocate_scratch(size);
    }

    /// Makes the tensor of an output that wasn't given.
    void allocate(std::size_t item) {
        const std::size_t first = manifest::leaf_of(call_, item);
        if (!binding_.arguments[first].allocate) {
            return;
        }
        if (passes_texture(call_.arguments[first])) {
            make_texture(item, first);
            return;
        }
        const bool whole = call_.items[item].form != manifest::Form::leaf;
        ElementType element = element_type(call_.arguments[first].element);
        if (whole) {
            element = ElementType{};
            element.struct_size = static_cast<std::uint32_t>(call_.items[item].size);
        }
        const auto leaves = static_cast<std::size_t>(call_.items[item].leaves);
        const bool stored_once = std::ranges::none_of(
            std::span(call_.arguments).subspan(first, leaves),
            [](const Argument& leaf) { return is_combined(leaf) || has_free_access(leaf); });
        const bool is_read = given_[item].is_read && stored_once && recorder_ == nullptr;
        const Dims& shape = binding_.arguments[first].allocate_shape;
        OutputMaker* const maker = given_[item].maker;
        AnyTensor made = maker != nullptr ? maker->make(element, shape)
                                          : make_tensor(module_.device().state(), device_, element, shape,
                                                        is_read ? Placement::mapped : Placement::device);
        for (std::size_t i = first; i < first + leaves; ++i) {
            const std::int64_t offset = call_.arguments[i].offset;
            BoundArgument& bound = binding_.arguments[i];
            bound.data.address = made.address() + static_cast<std::uint64_t>(offset);
            if (is_combined(call_.arguments[i])) {
                bound.grad_out.address = bound.data.address;
            }
            args_[i].allocated = made;
        }
        given_[item].allocated = std::move(made);
    }

    /// Makes the texture of an output that wasn't given, of the only format that kernels write.
    void make_texture(std::size_t item, std::size_t leaf) {
        const TextureShape shape =
            made_shape(*texture_rules(call_.arguments[leaf]), binding_.arguments[leaf].allocate_shape);
        args_[leaf].allocated_texture = AnyTexture::empty(module_.device(), shape);
        given_[item].allocated_texture = args_[leaf].allocated_texture;
    }

    void make_pushed(std::size_t i) {
        const AnyTensor made = make_tensor(module_.device().state(), device_,
                                           element_type(call_.arguments[i].element), binding_.shape);
        args_[i].allocated = made;
        binding_.arguments[i].grad_out.address = made.address();
    }

    /// The gradients that are pushed of a value; null where there are none.
    [[nodiscard]] const AnyTensor& pushed_of(std::size_t i) const {
        return args_[i].allocated ? args_[i].allocated : *args_[i].pushed;
    }

    void use(const AllocationPointer& allocation, bool writes) {
        if (!allocation) {
            return;
        }
        for (driver::Use& known : uses_) {
            if (known.allocation == allocation.get()) {
                known.writes = known.writes || writes;
                return;
            }
        }
        uses_.push_back({allocation, writes});
    }

    void collect_uses(const BindRequest& request) {
        uses_.reserve(3 * args_.size() + 1);
        // What the caller says of memory that pointers lead to goes before what their types allow.
        for (const AnyTensor& memory : request.options.reads) {
            if (memory) use(memory.state()->allocation, false);
        }
        for (const AnyTensor& memory : request.options.writes) {
            if (memory) use(memory.state()->allocation, true);
        }
        const std::size_t told = uses_.size();
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const Argument& argument = call_.arguments[i];
            const BoundArgument& bound = binding_.arguments[i];
            if (args_[i].kind == Arg::Kind::pointer) {
                use_pointee(argument, args_[i], told);
                continue;
            }
            if (views_[i].value_gradient && is_pushed(argument)) {
                if (bound.mode != GradMode::none) use(pushed_of(i).state()->allocation, true);
                continue;
            }
            const AnyTensor* tensor =
                args_[i].kind == Arg::Kind::tensor ? args_[i].tensor : &args_[i].allocated;
            if (!*tensor) {
                continue;  // textures are resources, too
            }
            if (touches_elements(argument, request.pass)) {
                use(tensor->state()->allocation, stores_elements(argument, pass_));
            }
            if (bound.grad_in.present) {
                use(tensor->grad_in().state()->allocation, false);
            }
            if (bound.mode != GradMode::none && !is_combined(argument)) {
                use(tensor->grad().state()->allocation, true);
            }
        }
        use(temporary_, true);
    }

    void collect_resources() {
        if (binding_.total == 0) {
            return;
        }
        for (const std::int64_t i : call_.resources) add_resource(static_cast<std::size_t>(i));
    }

    void add_resource(std::size_t i) {
        const Argument& argument = call_.arguments[i];
        if (passes_sampler(argument)) {
            resources_.emplace_back(driver::SamplerBinding{sampler_on(*views_[i].sampler, device_)});
        } else if (passes_texture(argument)) {
            add_texture(*texture_rules(argument), i);
        } else {
            add_buffer(*args_[i].tensor->state());
        }
    }

    void add_texture(const TextureRules& rules, std::size_t i) {
        const bool made = views_[i].texture == nullptr;
        const TextureState& state = *(made ? args_[i].allocated_texture : *views_[i].texture).state();
        std::shared_ptr<driver::Sampler> sampler;
        if (rules.is_combined) sampler = sampler_on(*views_[i].sampler, device_);
        resources_.emplace_back(driver::ImageBinding{state.image, rules.range(state), std::move(sampler)});
    }

    void add_buffer(const TensorState& state) {
        if (state.allocation != nullptr) {
            resources_.emplace_back(
                driver::BufferRange{state.allocation, state.offset,
                                    static_cast<std::uint64_t>(state.size) * state.element.size()});
            return;
        }
        // Drivers bind no empty buffer: less than an element's bytes make one of none.
        resources_.emplace_back(driver::BufferRange{take_scratch(1), 0, 1, true});
    }

    /// Adds the memory that a pointer leads to, unless the caller said what is done with it: that is among
    /// the first `told` uses. A backward pass may run the function's own stores again.
    void use_pointee(const Argument& argument, const Arg& arg, std::size_t told) {
        const AnyTensor* memory = memory_of(arg);
        if (memory == nullptr) {
            return;
        }
        const AllocationPointer& allocation = memory->state()->allocation;
        const auto end = uses_.begin() + static_cast<std::ptrdiff_t>(told);
        if (std::none_of(uses_.begin(), end,
                         [&](const driver::Use& known) { return known.allocation == allocation.get(); })) {
            use(allocation, may_write_through(argument));
        }
    }

    void zero_temporary() {
        const auto size = static_cast<std::size_t>(binding_.temporary.zeroed);
        if (size == 0 || is_zero_) {
            return;
        }
        if (host_ != nullptr) {
            std::memset(host_, 0, size);
        } else {
            target().fill(temporary_, 0, size);
        }
    }

    void upload(std::int64_t at, const void* value, const Argument& argument) {
        if (at < 0 || value == nullptr) {
            return;
        }
        const std::size_t size = element_type(argument.element).size();
        std::pmr::vector<std::byte> packed(&memory_);
        if (!argument.spacing.empty()) {
            packed.reserve(size);
            const std::size_t scalar = size_of(argument.element.scalar);
            for_each_scalar(argument, host_strides(argument), [&](const auto&, std::int64_t apart) {
                const std::byte* const from = static_cast<const std::byte*>(value) + apart;
                packed.insert(packed.end(), from, from + scalar);
            });
            value = packed.data();
        }
        if (host_ != nullptr) {
            std::memcpy(host_ + at, value, size);
            return;
        }
        driver_.upload(temporary_, static_cast<std::uint64_t>(at),
                       std::span(static_cast<const std::byte*>(value), size));
    }

    /// Zeroes gradients whose elements don't count, unless kernels store to each of them.
    void zero_overwritten() {
        for (std::size_t i = 0; i < args_.size() && runs_backward(pass_); ++i) {
            if (!binding_.arguments[i].zeroes_gradient) continue;
            target().zero(*args_[i].tensor->grad_out().state());
        }
    }

    /// Calls add to them.
    void zero_combined() {
        for (std::size_t i = 0; i < args_.size() && runs_forward(pass_); ++i) {
            const AnyTensor* tensor =
                args_[i].kind == Arg::Kind::tensor ? args_[i].tensor : &args_[i].allocated;
            if (is_combined(call_.arguments[i]) && *tensor) {
                target().zero(*tensor->state());
            }
        }
    }

    void zero_pushed() {
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (binding_.arguments[i].makes_pushed) target().zero(*args_[i].allocated.state());
        }
    }

    void record(const BindRequest& request) {
        if (kept_ == nullptr) {
            issue(request);
            return;
        }
        kept_->begin();
        issue(request);
        std::vector<Dims> extents;
        for (const ArgumentView& view : views_) extents.push_back(view.data.extents);
        auto observed = std::make_shared<ObservedCall>(ref_, call_index_, pass_);
        observed->add_given(given_);
        observed->add_made(given_);
        observed->own_values();
        kept_->end({ref_, call_index_, pass_, binding_, std::move(extents), settled_textures(), temporary_,
                    observed_in(before_), std::move(observed)});
    }

    /// The texture of each argument, given or made.
    [[nodiscard]] std::vector<AnyTexture> settled_textures() const {
        std::vector<AnyTexture> textures;
        if (call_.resources.empty()) return textures;
        for (std::size_t i = 0; i < args_.size(); ++i) {
            textures.push_back(views_[i].texture != nullptr ? *views_[i].texture
                                                            : args_[i].allocated_texture);
        }
        return textures;
    }

    void issue(const BindRequest& request) {
        if (before_ != nullptr) {
            target().replay(*before_);
        }
        zero_overwritten();
        zero_combined();
        zero_pushed();
        if (binding_.total == 0) {
            return;
        }
        zero_temporary();
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
        const driver::Dispatch dispatch{kernel_.get(), binding_.grid, block, uses_, resources_};
        {
            const auto launching = device_.launching();
            target().dispatch(dispatch);
        }
        if (key_ != nullptr) {
            module_.launches().remember(ref_, call_index_, request, binding_, *key_, kernel_, block, layout);
        }
    }

    /// Values come back: this waits for the device.
    void finish() {
        const TemporaryPlan& plan = binding_.temporary;
        if (binding_.total == 0) {
            zero_values();
        }
        for (std::size_t i = 0; i < args_.size(); ++i) {
            if (binding_.arguments[i].makes_pushed) *args_[i].pushed = args_[i].allocated;
        }
        if (recorder_ != nullptr || plan.read_end == plan.read_begin) {
            return;
        }
        if (call_.reports()) device_.take_reports();
        std::pmr::vector<std::byte> bytes(static_cast<std::size_t>(plan.read_end - plan.read_begin),
                                          &memory_);
        driver_.read_back(temporary_, static_cast<std::uint64_t>(plan.read_begin), bytes);
        const std::byte* base = bytes.data() - plan.read_begin;
        for (std::size_t i = 0; i < args_.size(); ++i) {
            const BoundArgument& bound = binding_.arguments[i];
            const Argument& argument = call_.arguments[i];
            const bool combined = is_combined(argument);
            const std::int64_t at = combined ? bound.gradient_at : bound.value_at;
            if (runs_forward(pass_) && at >= 0 && args_[i].out_value != nullptr) {
                hand_back(argument, args_[i].out_value, base + at, false);
            }
            if (bound.gradient_at >= 0 && !combined) {
                hand_back(argument, args_[i].gradient, base + bound.gradient_at, true);
            }
        }
    }

    /// What no calls are combined to.
    void zero_values() {
        for (std::size_t i = 0; i < args_.size() && runs_forward(pass_); ++i) {
            const Argument& argument = call_.arguments[i];
            if (is_combined(argument) && args_[i].kind == Arg::Kind::value && args_[i].out_value != nullptr) {
                const std::vector<std::byte> zeros(element_type(argument.element).size());
                hand_back(argument, args_[i].out_value, zeros.data(), false);
            }
        }
    }

    /// Copies packed scalars to where the host has them, or adds them up there.
    static void hand_back(const Argument& argument, void* target, const std::byte* packed, bool adds) {
        const ElementType element = element_type(argument.element);
        const auto put = [&](const ElementType& part, void* to, const std::byte* from) {
            if (adds) {
                add_gradient(part, to, from);
            } else {
                std::memcpy(to, from, part.size());
            }
        };
        if (argument.spacing.empty()) {
            put(element, target, packed);
            return;
        }
        for_each_scalar(argument, host_strides(argument), [&](const auto&, std::int64_t apart) {
            put({element.scalar, 0}, static_cast<std::byte*>(target) + apart, packed);
            packed += size_of(element.scalar);
        });
    }

    const FunctionRef& ref_;
    std::size_t call_index_;
    const LaunchKey* key_;      ///< null when the launch isn't to be remembered
    const CommandLog* before_;  ///< what hooks recorded; null for none
    LaunchMarks* marks_;        ///< null where nothing looks at the call
    const ModuleState& module_;
    const manifest::Function& function_;
    const manifest::Call& call_;
    PassKind pass_;
    std::span<Arg> given_;  ///< items
    DeviceState& device_;
    driver::Device& driver_;
    Encoder* encoder_;
    driver::Recorder* recorder_ = nullptr;
    KeptCalls* kept_ = nullptr;  ///< the recorder, where the call is kept to run often
    std::shared_ptr<driver::Kernel> kernel_;
    AllocationPointer temporary_;
    bool is_zero_ = false;       ///< the temporary memory, before and after the launch
    std::byte* host_ = nullptr;  ///< where the host has the temporary memory; null where it doesn't

    // Calls of up to a dozen arguments allocate nothing on the heap.
    std::array<std::byte, 24'576> stack_;
    std::pmr::monotonic_buffer_resource memory_;
    std::pmr::vector<Arg> fields_;  ///< of structs that were given whole, among the other arguments
    std::span<Arg> args_;           ///< leaves
    std::pmr::vector<ArgumentView> views_;
    std::pmr::vector<driver::Use> uses_;
    std::pmr::vector<driver::Resource> resources_;
    Binding binding_;
};

void launch_in_general(const LaunchRequest& request, const LaunchKey* key) {
    Invocation(request.function, request.call, request.pass, request.arguments, request.encoder, request.on,
               key, request.before, request.marks)
        .run(request.shape);
}

/// Makes a call that has no plan: strided ones, of buffers, pointers and tensors that the function takes
/// whole. Apart, for it needs much of the stack.
[[gnu::noinline]] void launch_otherwise(const LaunchRequest& request) {
    LaunchKey key;
    const FunctionRef& function = request.function;
    const manifest::Call& call = function.module->manifest().functions[function.function].calls[request.call];
    const bool known = request.shape == nullptr && request.before == nullptr &&
                       key.read(call, request.arguments, request.pass, function.options);
    if (!known || !function.module->launches().launch(request, key)) {
        launch_in_general(request, known ? &key : nullptr);
    }
}

void launch_admitted(const LaunchRequest& request) {
    if (!launch_fast(request)) launch_otherwise(request);
}

/// Makes a call that something looks at: now, or when what it is recorded in runs.
[[gnu::noinline]] void launch_observed(Observers& observers, const LaunchRequest& request) {
    ObservedCalls calls = observed_in(request.before);
    const auto call = std::make_shared<ObservedCall>(request.function, request.call, request.pass);
    call->add_given(request.arguments);
    calls.push_back(call);
    const auto launch = [&](LaunchMarks& marks) {
        LaunchRequest marked = request;
        marked.marks = &marks;
        launch_admitted(marked);
        call->add_made(request.arguments);
    };
    if (request.encoder == nullptr) {
        observers.run(device_of(request).driver(), calls, launch);
        return;
    }
    LaunchMarks marks;
    marks.label = call->label();
    launch(marks);
    if (CommandLog* const log = command_log(request.encoder->state())) {
        call->own_values();
        log->end_part(std::move(calls));
    }
}

/// Makes a call whose hooks were called; `globals` are the function's, or what hooks set. Null for none.
void launch(const FunctionRef& function, const GlobalValues* globals, std::size_t call_index, PassKind pass,
            std::span<Arg> args, Encoder* encoder, const Dims* shape, const Device* on, Encoder* before) {
    // All that may be waited for before anything is recorded: a call isn't left half done.
    driver::Device& driver = function.module->device().state()->driver();
    if (encoder == nullptr) {
        driver.admit();
    }
    const CommandLog* log = nullptr;
    if (before != nullptr) {
        EncoderState& state = before->state();
        if (state.target != EncoderState::Target::hook) {
            throw ArgumentError(ErrorCode::hook_context,
                                "hook: another encoder was assigned to the context's: record into that");
        }
        if (!state.device->is_same(*function.module->device().state())) {
            throw ArgumentError(
                ErrorCode::device_mismatch,
                "hook: the encoder that was recorded into is of another device than the call");
        }
        state.note_run();
        log = static_cast<const CommandLog*>(state.recorder.get());
        log = log->is_empty() ? nullptr : log;
    }
    if (globals != nullptr) {
        give_globals(*globals, function.module->manifest().functions[function.function].calls[call_index],
                     args);
    }
    const manifest::Function& described = function.module->manifest().functions[function.function];
    const manifest::Call& called = described.calls[call_index];
    check_enum_values(described.name, called, args);
    if (driver::Awaited::is_any() && encoder == nullptr) [[unlikely]]
        check_awaited(described, called, pass, args);
    const LaunchRequest request{function, call_index, pass, args, encoder, shape, on, log};
    if (Observers* const observers = device_of(request).observers(); observers != nullptr) [[unlikely]] {
        launch_observed(*observers, request);
    } else {
        launch_admitted(request);
    }
    if (encoder != nullptr) await_run(encoder->state(), args);
}

}  // namespace

void launch_in_general(const LaunchRequest& request) { launch_in_general(request, nullptr); }

void invoke(const FunctionRef& function, std::size_t call_index, PassKind pass, std::span<Arg> args,
            Encoder* encoder, const Dims* shape, const Device* on, Encoder* before) {
    check_function(function);
    if (function.hooks == nullptr) {
        launch(function, function.globals.get(), call_index, pass, args, encoder, shape, on, before);
        return;
    }
    if (encoder != nullptr) {
        (void)encoder->state();  // refuses one that is over before anybody is called
    }
    HookedCall call(function.module->device(), function.globals);
    for (const Hook& hook : *function.hooks) {
        hook(call);
    }
    const std::shared_ptr<const GlobalValues> globals = call.globals();
    launch(function, globals.get(), call_index, pass, args, encoder, shape, on, call.recorded());
}

}  // namespace kf::detail

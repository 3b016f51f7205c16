// One call with one set of arguments.
#include "check/trial.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/bind_error.h"
#include "core/module_state.h"

namespace kf::check {
namespace {

using detail::Arg;
using manifest::Argument;

/// The value of gradients before they are overwritten: it must not stay.
constexpr double stale = 3;

bool is_pure_output(const ArgumentData& item) { return item.written && !item.input; }

/// Returns the function with a count of threads, which a launch's shape states.
detail::FunctionRef launched(const detail::FunctionRef& function, std::size_t call, const Dims& shape) {
    const manifest::Function& made_of = function.module->manifest().functions[function.function];
    if (made_of.calls[call].dispatch == manifest::Dispatch::elements) return function;
    const auto along = [&](std::size_t d) { return static_cast<std::uint32_t>(shape[d]); };
    return function.with({.launch = Launch::threads(along(2), along(1), along(0))});
}

}  // namespace

Trial::Trial(const detail::FunctionRef& function, std::size_t call, Arguments arguments, const Dims& shape,
             std::mt19937_64& random)
    : function_(launched(function, call, shape)),
      call_index_(call),
      call_(function.module->manifest().functions[function.function].calls[call]),
      arguments_(std::move(arguments)),
      shape_(shape) {
    placed_.resize(arguments_.items.size());
    with_grads_.resize(arguments_.items.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) place(i);
    choose_weights(random);
}

Trial Trial::in(const Module& module) const {
    std::mt19937_64 unused;  // of weights, which are replaced
    const std::string& name = function_.module->manifest().functions[function_.function].name;
    const auto& functions = module.state()->manifest().functions;
    const auto same = std::find_if(functions.begin(), functions.end(),
                                   [&](const manifest::Function& one) { return one.name == name; });
    if (same == functions.end()) throw std::logic_error("no function '" + name + "'");
    Trial other({module.state(), static_cast<std::size_t>(same - functions.begin())}, call_index_, arguments_,
                shape_, unused);
    other.outputs_ = outputs_;
    other.weights_ = weights_;
    other.starts_ = starts_;
    return other;
}

const Dims* Trial::shape() const {
    return call_.dispatch == manifest::Dispatch::elements ? &shape_ : nullptr;
}

void Trial::place(std::size_t index) {
    const ArgumentData& item = arguments_.items[index];
    Placed& placed = placed_[index];
    if (item.kind == ArgumentData::Kind::tensor) {
        const Device& device = function_.module->device();
        const auto make = [&] { return GuardedTensor(device, item.element, item.shape, item.gapped); };
        placed.data = make();
        if (item.flowing) placed.grad_in = make();
        if (item.gradient) placed.grad_out = make();
    } else if (item.kind == ArgumentData::Kind::value) {
        placed.out = item.bytes;
        placed.gradient.assign(item.bytes.size(), std::byte{0});
    }
}

void Trial::choose_weights(std::mt19937_64& random) {
    std::uniform_real_distribution<double> number(0.5, 1.5);
    std::vector<std::vector<std::byte>> flowing(arguments_.items.size());
    for (std::size_t i = 0; i < flowing.size(); ++i) flowing[i].resize(arguments_.items[i].bytes.size());
    for (std::size_t l = 0; l < call_.arguments.size(); ++l) {
        const Argument& argument = call_.arguments[l];
        // An argument that has one gradient for both directions begins with the one that flows in.
        const bool one_gradient = argument.differentiable && has_one_gradient(argument);
        if (!has_flowing_gradient(argument) && !one_gradient) continue;
        const Leaf& leaf = arguments_.leaves[l];
        const ArgumentData& item = arguments_.items[leaf.item];
        // A value that is changed has a gradient for its input alone, and 1 flows into it.
        const bool one = item.kind == ArgumentData::Kind::value && detail::is_input(argument);
        for (std::size_t s = 0; s < leaf.positions.size(); ++s) {
            const double size = one ? 1 : rounded(leaf.scalar, number(random));
            const double weight = one || random() % 2 == 0 ? size : -size;
            outputs_.push_back({l, s});
            weights_.push_back(weight);
            set(flowing[leaf.item], leaf.scalar, leaf.positions[s], weight);
        }
    }
    starts_ = flowing;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        if (placed_[i].grad_in) placed_[i].grad_in.write(flowing[i]);
        if (arguments_.items[i].kind == ArgumentData::Kind::value && is_pure_output(arguments_.items[i])) {
            placed_[i].gradient = flowing[i];
        }
    }
}

void Trial::upload() {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const ArgumentData& item = arguments_.items[i];
        if (item.kind != ArgumentData::Kind::tensor || !(placed_[i].changed || item.written)) continue;
        placed_[i].data.write(item.bytes);
        placed_[i].changed = false;
    }
}

std::vector<Arg> Trial::forward_args() {
    std::vector<Arg> args;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const ArgumentData& item = arguments_.items[i];
        switch (item.kind) {
            case ArgumentData::Kind::tensor: args.push_back(Arg::of(placed_[i].data.tensor())); break;
            case ArgumentData::Kind::value:
                args.push_back(Arg::make(Arg::Kind::value, item.input ? item.bytes.data() : nullptr,
                                         item.written ? placed_[i].out.data() : nullptr, nullptr, nullptr));
                break;
            case ArgumentData::Kind::generator:
                args.push_back(Arg::make(Arg::Kind::generator, item.bytes.data(), nullptr, nullptr, nullptr));
                break;
            case ArgumentData::Kind::nothing: args.push_back(Arg::none()); break;
        }
    }
    return args;
}

std::vector<Arg> Trial::backward_args(detail::PassKind pass) {
    std::vector<Arg> args = forward_args();
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const ArgumentData& item = arguments_.items[i];
        if (item.kind == ArgumentData::Kind::tensor) {
            with_grads_[i] = placed_[i].data.tensor();
            if (item.flowing || item.gradient) {
                with_grads_[i] =
                    with_grads_[i].with_grads(placed_[i].grad_in.tensor(), placed_[i].grad_out.tensor());
            }
            args[i] = Arg::of(with_grads_[i]);
        } else if (item.kind == ArgumentData::Kind::value) {
            if (pass == detail::PassKind::backward) args[i].out_value = nullptr;
            const bool carries = item.gradient || is_pure_output(item);
            args[i].gradient = carries ? placed_[i].gradient.data() : nullptr;
        }
    }
    return args;
}

std::vector<double> Trial::evaluate() {
    upload();
    std::vector<Arg> args = forward_args();
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        if (arguments_.items[i].kind == ArgumentData::Kind::value) placed_[i].out = arguments_.items[i].bytes;
    }
    detail::invoke(function_, call_index_, detail::PassKind::forward, args, nullptr, this->shape());
    return outputs();
}

std::vector<double> Trial::outputs() const {
    std::vector<std::vector<std::byte>> results(placed_.size());
    std::vector<double> values;
    values.reserve(outputs_.size());
    for (const Output& output : outputs_) {
        const Leaf& leaf = arguments_.leaves[output.leaf];
        std::vector<std::byte>& bytes = results[leaf.item];
        if (bytes.empty()) {
            const bool tensor = arguments_.items[leaf.item].kind == ArgumentData::Kind::tensor;
            bytes = tensor ? placed_[leaf.item].data.read() : placed_[leaf.item].out;
        }
        values.push_back(get(bytes, leaf.scalar, leaf.positions[output.scalar]));
    }
    return values;
}

bool Trial::run() {
    centre_ = evaluate();
    if (!std::all_of(centre_.begin(), centre_.end(), [](double value) { return std::isfinite(value); }))
        return false;
    magnitudes_.resize(centre_.size());
    for (std::size_t begin = 0; begin < outputs_.size();) {
        std::size_t end = begin;
        double squares = 0;
        for (; end < outputs_.size() && outputs_[end].leaf == outputs_[begin].leaf; ++end) {
            squares += centre_[end] * centre_[end];
        }
        const double usual = std::sqrt(squares / static_cast<double>(end - begin));
        // The terms of a sum may have cancelled out.
        const double terms = std::sqrt(this->terms(outputs_[begin].leaf));
        for (; begin < end; ++begin) magnitudes_[begin] = terms * std::max(std::abs(centre_[begin]), usual);
    }
    return true;
}

bool Trial::is_repeatable(double epsilon) {
    const std::vector<double> again = evaluate();
    for (std::size_t i = 0; i < again.size(); ++i) {
        if (!(std::abs(again[i] - centre_[i]) <= rounding(i, epsilon))) return false;
    }
    return true;
}

bool Trial::is_untouched(std::size_t index) const {
    const Leaf& leaf = arguments_.leaves[outputs_[index].leaf];
    const ArgumentData& item = arguments_.items[leaf.item];
    return centre_[index] == get(item.bytes, leaf.scalar, leaf.positions[outputs_[index].scalar]);
}

double Trial::terms(std::size_t index) const {
    const Argument& argument = call_.arguments[index];
    if (argument.accumulate != manifest::Accumulate::sum || !manifest::is_combined(argument)) return 1;
    double calls = 1;
    for (const std::int64_t extent : shape_) calls *= static_cast<double>(extent);
    double scalars = 1;
    for (const std::int64_t extent : argument.trailing) scalars *= static_cast<double>(extent);
    return std::max(1.0, calls * scalars / static_cast<double>(arguments_.leaves[index].positions.size()));
}

double Trial::rounding(std::size_t index, double epsilon) const {
    constexpr double roundings = 64;
    // A sum may be next to nothing, of terms that are as large as inputs are.
    const double count = terms(outputs_[index].leaf);
    return roundings * epsilon * std::max(magnitudes_[index], count > 1 ? std::sqrt(count) : 0);
}

void Trial::run_backward(detail::PassKind pass, bool deterministic) {
    upload();
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const ArgumentData& item = arguments_.items[i];
        if (item.kind == ArgumentData::Kind::value) placed_[i].out = item.bytes;
        if (!item.gradient) continue;
        std::vector<std::byte> start(item.bytes.size(), std::byte{0});
        if (has_one_gradient(call_.arguments[item.leaf]) && !starts_.empty()) start = starts_[i];
        for (std::size_t l = item.leaf; l < item.leaf + item.leaves; ++l) {
            if (!call_.arguments[l].overwrite) continue;
            const Leaf& leaf = arguments_.leaves[l];
            for (const std::size_t at : leaf.positions) set(start, leaf.scalar, at, stale);
        }
        if (placed_[i].grad_out) {
            placed_[i].grad_out.write(start);
        } else {
            placed_[i].gradient.assign(item.bytes.size(), std::byte{0});
        }
    }
    std::vector<Arg> args = backward_args(pass);
    const detail::FunctionRef function = deterministic ? function_.with({.deterministic = true}) : function_;
    detail::invoke(function, call_index_, pass, args, nullptr, this->shape());
}

std::vector<double> Trial::gradients(std::size_t index) const {
    const Leaf& leaf = arguments_.leaves[index];
    const Placed& placed = placed_[leaf.item];
    const std::vector<std::byte> bytes = placed.grad_out ? placed.grad_out.read() : placed.gradient;
    std::vector<double> values;
    for (const std::size_t at : leaf.positions) values.push_back(get(bytes, leaf.scalar, at));
    return values;
}

double Trial::move(std::size_t index, std::span<const Move> moves, double step) {
    const Leaf& leaf = arguments_.leaves[index];
    ArgumentData& item = arguments_.items[leaf.item];
    double moved = 0;
    for (const Move& one : moves) {
        const std::size_t at = leaf.positions[one.position];
        const double before = get(item.bytes, leaf.scalar, at);
        set(item.bytes, leaf.scalar, at, before + one.by * step);
        if (&one == &moves.front()) moved = std::abs((get(item.bytes, leaf.scalar, at) - before) / one.by);
    }
    placed_[leaf.item].changed = true;
    return moved;
}

void Trial::restore(std::size_t index, const std::vector<std::byte>& bytes) {
    const std::size_t item = arguments_.leaves[index].item;
    arguments_.items[item].bytes = bytes;
    placed_[item].changed = true;
}

void Trial::watch(const std::vector<std::size_t>& leaves) {
    outputs_.clear();
    for (const std::size_t leaf : leaves) {
        for (std::size_t s = 0; s < arguments_.leaves[leaf].positions.size(); ++s)
            outputs_.push_back({leaf, s});
    }
    weights_.assign(outputs_.size(), 1);
}

void Trial::put(std::size_t index, std::span<const double> values) {
    const Leaf& leaf = arguments_.leaves[index];
    ArgumentData& item = arguments_.items[leaf.item];
    for (std::size_t s = 0; s < leaf.positions.size(); ++s) {
        set(item.bytes, leaf.scalar, leaf.positions[s], values[s]);
    }
    placed_[leaf.item].changed = true;
}

bool Trial::changes_with(std::size_t index, std::span<const double> values) {
    const std::vector<std::byte> before = arguments_.items[arguments_.leaves[index].item].bytes;
    put(index, values);
    const bool changes = evaluate() != centre_;
    restore(index, before);
    return changes;
}

Stencil Trial::stencil(std::size_t index, std::span<const Move> moves, double step) {
    const std::vector<std::byte> before = arguments_.items[arguments_.leaves[index].item].bytes;
    Stencil stencil;
    stencil.centre = centre_;
    for (std::size_t s = 0; s < step_count; ++s, step /= 2) {
        stencil.forward[s] = move(index, moves, step);
        stencil.plus[s] = evaluate();
        restore(index, before);
        stencil.backward[s] = move(index, moves, -step);
        stencil.minus[s] = evaluate();
        restore(index, before);
    }
    return stencil;
}

std::pair<Difference, std::optional<Difference>> Trial::differentiate(std::size_t index,
                                                                      std::span<const Move> moves,
                                                                      double step, double epsilon) {
    const std::vector<std::byte> before = arguments_.items[arguments_.leaves[index].item].bytes;
    const Stencil stencil = this->stencil(index, moves, step);
    std::pair<Difference, std::optional<Difference>> result;
    result.first = check::differentiate(stencil, weights_, magnitudes_, epsilon);
    // The leaf's own output follows it exactly: stored as it was, or not at all.
    const bool in_place = has_free_access(call_.arguments[index]);
    for (std::size_t k = 0; in_place && moves.size() == 1 && k < outputs_.size(); ++k) {
        if (outputs_[k].leaf != index || outputs_[k].scalar != moves.front().position) continue;
        const Leaf& leaf = arguments_.leaves[index];
        if (centre_[k] != get(before, leaf.scalar, leaf.positions[outputs_[k].scalar])) continue;
        std::vector<double> weights = weights_;
        weights[k] = 0;
        result.second = check::differentiate(stencil, weights, magnitudes_, epsilon);
    }
    return result;
}

const Argument* Trial::overrun() const {
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        for (const GuardedTensor* tensor : {&placed_[i].data, &placed_[i].grad_in, &placed_[i].grad_out}) {
            if (*tensor && !tensor->is_intact()) return &call_.arguments[arguments_.items[i].leaf];
        }
    }
    return nullptr;
}

}  // namespace kf::check

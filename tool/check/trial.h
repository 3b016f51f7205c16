// One call with one set of arguments: its outputs, its gradients, and differences of its outputs.
#pragma once

#include <kf/invoke.h>
#include <kf/module.h>

#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "check/argument_data.h"
#include "check/differences.h"
#include "check/guarded_tensor.h"

namespace kf::check {

/// A scalar of a leaf that is moved, and how far: components have one, directions many.
struct Move {
    std::size_t position = 0;
    double by = 0;  ///< times the step
};

class Trial {
public:
    /// Makes tensors on the module's device. Outputs are those whose gradients flow in.
    Trial(const detail::FunctionRef& function, std::size_t call, Arguments arguments, const Dims& shape,
          std::mt19937_64& random);

    /// Returns a trial of the same call, arguments and outputs in another artifact, which has a function of
    /// this name with the same overloads.
    [[nodiscard]] Trial in(const Module& module) const;
    [[nodiscard]] const detail::FunctionRef& function() const { return function_; }
    [[nodiscard]] std::size_t call() const { return call_index_; }

    /// Makes these leaves the outputs instead.
    void watch(const std::vector<std::size_t>& leaves);
    /// The outputs' values where run() found them.
    [[nodiscard]] const std::vector<double>& centre() const { return centre_; }
    [[nodiscard]] const std::vector<double>& magnitudes() const { return magnitudes_; }

    /// Runs the forward pass; false where some output whose gradient is read isn't finite.
    bool run();
    /// Whether the forward pass gives the same as run() found, but for the order in which sums are added up.
    [[nodiscard]] bool is_repeatable(double epsilon);
    /// Runs a pass with gradients; afterwards gradients() are those of sum(weight * output).
    void run_backward(detail::PassKind pass, bool deterministic);
    /// Returns the gradient of each scalar of a leaf.
    [[nodiscard]] std::vector<double> gradients(std::size_t leaf) const;
    /// Returns the contents of the outputs after the last pass that gave them.
    [[nodiscard]] std::vector<double> outputs() const;
    /// Returns the leaf of output number `index`, and which of the leaf's scalars it is.
    [[nodiscard]] std::pair<std::size_t, std::size_t> output(std::size_t index) const {
        return {outputs_[index].leaf, outputs_[index].scalar};
    }

    /// Returns the derivative that the backward pass should find along `moves` of a leaf's scalars. Second:
    /// without the scalar's own place among the outputs, where it may be that no call wrote there.
    std::pair<Difference, std::optional<Difference>> differentiate(std::size_t leaf,
                                                                   std::span<const Move> moves, double step,
                                                                   double epsilon);
    /// The outputs on both sides, along `moves` of a leaf's scalars.
    Stencil stencil(std::size_t leaf, std::span<const Move> moves, double step);
    /// Whether results differ from those that run() found where a leaf's scalars have other values.
    bool changes_with(std::size_t leaf, std::span<const double> values);
    /// Gives a leaf's scalars other values.
    void put(std::size_t leaf, std::span<const double> values);
    /// How far apart two compilers' code may put the value of output number `index`, after run().
    [[nodiscard]] double rounding(std::size_t index, double epsilon) const;
    /// Whether output number `index` has, after run(), what was there before.
    [[nodiscard]] bool is_untouched(std::size_t index) const;
    /// Returns how many calls' results are summed in an output's element.
    [[nodiscard]] double terms(std::size_t leaf) const;
    [[nodiscard]] const Arguments& arguments() const { return arguments_; }
    /// The argument beside which something was written, if there is one.
    [[nodiscard]] const manifest::Argument* overrun() const;

private:
    /// An item on the device.
    struct Placed {
        GuardedTensor data, grad_in, grad_out;
        std::vector<std::byte> out;       ///< of values: what the call gives
        std::vector<std::byte> gradient;  ///< of values: what flows in or out
        bool changed = true;              ///< on the host, since it was last uploaded
    };
    struct Output {
        std::size_t leaf;
        std::size_t scalar;
    };

    void place(std::size_t item);
    void choose_weights(std::mt19937_64& random);
    void upload();
    [[nodiscard]] std::vector<detail::Arg> forward_args();
    [[nodiscard]] std::vector<detail::Arg> backward_args(detail::PassKind pass);
    std::vector<double> evaluate();
    /// Moves scalars by rounded steps; returns how far the first one went.
    double move(std::size_t leaf, std::span<const Move> moves, double step);
    void restore(std::size_t leaf, const std::vector<std::byte>& bytes);

    /// Returns the shape that is given for the call; null for launches.
    [[nodiscard]] const Dims* shape() const;

    detail::FunctionRef function_;
    std::size_t call_index_;
    const manifest::Call& call_;
    Arguments arguments_;
    Dims shape_;
    std::vector<Placed> placed_;
    std::vector<AnyTensor> with_grads_;  ///< what backward arguments point to
    std::vector<Output> outputs_;
    std::vector<double> weights_;
    std::vector<std::vector<std::byte>>
        starts_;  ///< by item: what gradients begin with that are read as well
    std::vector<double> centre_;
    std::vector<double> magnitudes_;
};

}  // namespace kf::check

// How many kernels a call multiplies into, and the error when they are too many.
#include "spec/limits.h"

#include <limits>

namespace kf::gen {
namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return a != 0 && b > most / a ? most : a * b;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return b > most - a ? most : a + b;
}

std::uint64_t count(const std::vector<KindSpec>& alternatives);

std::uint64_t count(const KindSpec& kind) {
    std::uint64_t product = 1;
    for (const FieldSpec& field : kind.fields) {
        product = saturating_product(product, count(field.alternatives));
    }
    return product;
}

std::uint64_t count(const std::vector<KindSpec>& alternatives) {
    std::uint64_t sum = 0;
    for (const KindSpec& kind : alternatives) {
        sum = saturating_sum(sum, count(kind));
    }
    return sum;
}

}  // namespace

std::uint64_t KernelProduct::total() const {
    std::uint64_t product = 1;
    for (const auto& factor : factors) {
        product = saturating_product(product, factor.second);
    }
    return product;
}

std::string KernelProduct::text() const {
    std::string text;
    for (const auto& [name, value] : factors) {
        text += (text.empty() ? "" : " * ") + name + ": " + std::to_string(value);
    }
    const bool saturated = total() == std::numeric_limits<std::uint64_t>::max();
    return text + (text.empty() ? "" : " = ") + (saturated ? "at least " : "") + std::to_string(total());
}

KernelProduct kernel_product(const CallSpec& call) {
    KernelProduct product;
    const auto add = [&](const std::string& name, std::uint64_t value) {
        if (value > 1) {
            product.factors.emplace_back(name, value);
        }
    };
    for (const ArgumentSpec& argument : call.arguments) {
        add(argument.name, count(argument.alternatives));
    }
    add("this", count(call.self));
    add("result", count(call.result));
    add("variants", 1 + call.variants.size());
    add("passes", 1U + (call.backward.enabled ? 1U : 0U) + (call.backward.fused ? 1U : 0U) +
                      (call.forward_diff.has_value() ? 1U : 0U));
    return product;
}

std::optional<Diagnostic> check_kernel_limit(const CallSpec& call, const KernelProduct& product,
                                             std::uint64_t limit) {
    if (product.total() <= limit) {
        return std::nullopt;
    }
    return Diagnostic{Severity::error,
                      "spec-too-many-kernels",
                      call.location,
                      "the call '" + call.name + "' multiplies into too many kernels: " + product.text() +
                          "; at most " + std::to_string(limit) + " are allowed",
                      {"give fewer alternatives, or split them over two calls with the same name"}};
}

}  // namespace kf::gen

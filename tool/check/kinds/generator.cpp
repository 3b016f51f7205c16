// Generators in the check of gradients: each makes as many values as the call has.
#include "check/kinds/generator.h"

#include <kf/generator.h>

#include <cstring>

namespace kf::check {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

}  // namespace

std::vector<std::byte> drawn_bytes(const manifest::kinds::Generator& kind, const manifest::Argument& argument,
                                   const std::vector<std::int64_t>& shape) {
    switch (kind.generator) {
        case manifest::GeneratorKind::grid: {
            std::vector<std::int64_t> numbers;
            for (const std::int64_t d : argument.map) {
                numbers.push_back(shape[static_cast<std::size_t>(d)]);
            }
            const std::size_t rank = numbers.size();
            numbers.resize(2 * rank, 0);
            numbers.resize(3 * rank, 1);
            std::vector<std::byte> bytes(numbers.size() * sizeof(std::int64_t));
            std::memcpy(bytes.data(), numbers.data(), bytes.size());
            return bytes;
        }
        case manifest::GeneratorKind::range:
            return bytes_of(Range{0, shape[static_cast<std::size_t>(argument.map.front())], 1});
        case manifest::GeneratorKind::wang_hash: return bytes_of(WangHash{.seed = 1});
        case manifest::GeneratorKind::rand_float: return bytes_of(RandFloat{.seed = 1});
        default: return {};
    }
}

}  // namespace kf::check

// SHA-256, one block of 64 bytes after the other.
#include "core/sha256.h"

#include <algorithm>
#include <bit>

#include "core/sha256_blocks.h"
#include "core/sha256_constants.h"

namespace kf {
namespace {

using detail::Sha256State;

void add_block(Sha256State& state, const std::byte* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
            w[i] = (w[i] << 8U) | std::to_integer<std::uint32_t>(block[i * 4 + k]);
        }
    }
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15];
        const std::uint32_t b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                 ((e & f) ^ (~e & g)) + detail::sha256_constants[i] + w[i];
        const std::uint32_t t2 =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const Sha256State add{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) {
        state[i] += add[i];
    }
}

void add_blocks(Sha256State& state, const std::byte* blocks, std::size_t count) {
    static const detail::AddBlocks chosen = detail::chosen_add_blocks();
    chosen(state, blocks, count);
}

}  // namespace

namespace detail {

void add_blocks_portably(Sha256State& state, const std::byte* blocks, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_block(state, blocks + 64 * i);
}

}  // namespace detail

std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes) {
    Sha256State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const std::size_t done = bytes.size() / 64 * 64;
    add_blocks(state, bytes.data(), done / 64);
    std::array<std::byte, 128> tail{};
    const std::span<const std::byte> rest = bytes.subspan(done);
    std::copy(rest.begin(), rest.end(), tail.begin());
    tail[rest.size()] = std::byte{0x80};
    const std::size_t tail_size = rest.size() < 56 ? 64 : 128;
    const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
    for (std::size_t i = 0; i < 8; ++i) {
        tail[tail_size - 1 - i] = static_cast<std::byte>((bits >> (8 * i)) & 0xffU);
    }
    add_blocks(state, tail.data(), tail_size / 64);
    std::array<std::uint8_t, 32> digest{};
    for (std::size_t i = 0; i < 32; ++i) {
        digest[i] = static_cast<std::uint8_t>((state[i / 4] >> (24U - 8U * (i % 4))) & 0xffU);
    }
    return digest;
}

std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string hex_digest(std::string_view text) { return hex(sha256(std::as_bytes(std::span(text)))); }

}  // namespace kf

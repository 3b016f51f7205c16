// SHA-256 by x86's SHA extensions.
#include "core/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#include "core/sha256_constants.h"

namespace kf::detail {
namespace {

bool has_sha() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned sse41 = 1U << 19U;
    constexpr unsigned ssse3 = 1U << 9U;
    constexpr unsigned sha = 1U << 29U;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & sse41) == 0 || (c & ssse3) == 0) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha) != 0;
}

#define KF_WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

KF_WITH_SHA __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

KF_WITH_SHA void store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

/// The state is kept as the instructions want it: ABEF and CDGH, the first letter highest.
KF_WITH_SHA void add_by_instructions(Sha256State& state, const std::byte* blocks, std::size_t count) {
    const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i dcba = _mm_shuffle_epi32(load(state.data()), 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1B);
    __m128i abef = _mm_alignr_epi8(dcba, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, dcba, 0xF0);
    for (; count != 0; --count, blocks += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];  // the last 16 words  NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
        for (std::ptrdiff_t i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(blocks + 16 * i), to_big_endian);
        for (std::ptrdiff_t i = 0; i < 16; ++i) {
            __m128i& now = w[i % 4];
            if (i >= 4) {
                // w[t] = w[t-16] + s0(w[t-15]) + w[t-7] + s1(w[t-2]), four at a time.
                const __m128i& last = w[(i + 3) % 4];
                now = _mm_sha256msg1_epu32(now, w[(i + 1) % 4]);
                now = _mm_add_epi32(now, _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
                now = _mm_sha256msg2_epu32(now, last);
            }
            __m128i sums = _mm_add_epi32(now, load(sha256_constants.data() + 4 * i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
            sums = _mm_shuffle_epi32(sums, 0x0E);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, sums);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    store(state.data(), _mm_blend_epi16(feba, dchg, 0xF0));
    store(state.data() + 4, _mm_alignr_epi8(dchg, feba, 8));
}

#undef KF_WITH_SHA

}  // namespace

AddBlocks chosen_add_blocks() { return has_sha() ? add_by_instructions : add_blocks_portably; }

}  // namespace kf::detail

#else

namespace kf::detail {

AddBlocks chosen_add_blocks() { return add_blocks_portably; }

}  // namespace kf::detail

#endif

// Looks for the first call that makes a NaN or an infinity out of numbers that are finite: KF_CHECK=nan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/observed_call.h"

namespace kf::detail {

/// A number among scalars that is a NaN or infinite.
struct NotFinite {
    Dims index;
    double value = 0;
};

/// The first one in row-major order, of scalars from `first` on, at these strides in scalars. `before`: what
/// was there before, of which nothing counts that is the same still; null: all of them count. Integers are
/// finite.
[[nodiscard]] std::optional<NotFinite> find_not_finite(ScalarType scalar, const std::byte* first,
                                                       const Dims& extents, const Dims& strides,
                                                       const std::byte* before);

/// The watch over one call: made right before it runs. It waits for the device, and reads back all that the
/// call reads and writes.
class NanWatch {
public:
    /// `number` of the call, for the message.
    NanWatch(driver::Device& driver, const ObservedCall& call, std::uint64_t number);
    /// Throws Error (not_finite) once the call, which may have made outputs since, has written what isn't
    /// finite. False where it was given such numbers already.
    [[nodiscard]] bool check() const;

private:
    /// Bytes that hold a view's scalars, and where the first one is.
    struct Copy {
        std::vector<std::byte> bytes;
        std::size_t first = 0;

        [[nodiscard]] const std::byte* data() const { return bytes.data() + first; }
    };

    [[nodiscard]] Copy read(const ObservedView& view) const;
    [[nodiscard]] std::optional<NotFinite> find(const ObservedView& view, std::size_t index) const;
    [[nodiscard]] std::optional<NotFinite> find_in_texture(const ObservedView& view, std::size_t index) const;
    [[nodiscard]] std::string text_of(const ObservedView& view, const NotFinite& found) const;

    driver::Device& driver_;
    const ObservedCall& call_;
    std::uint64_t number_;
    bool was_finite_ = true;  ///< all that the call reads
    std::vector<std::vector<Copy>>
        before_;  ///< of views that the call writes parts of, by index; of each mip
};

}  // namespace kf::detail

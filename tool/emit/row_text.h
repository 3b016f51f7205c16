// The statements about an argument in kernels that walk rows: reads of a run's elements and old gradients.
#pragma once

#include <cstdint>
#include <string>

namespace kf::gen {

/// An argument's elements along a row.
struct RowText {
    std::string scalar;      ///< the type in memory
    std::int64_t count = 1;  ///< of scalars an element
    std::string row;         ///< where the row's elements start
    std::string step;        ///< scalars from one call's element to the next, 0 for one that the row shares

    /// The type of an element, with one scalar too.
    [[nodiscard]] std::string type() const;
    /// 0 where runs of `run` calls may be moved whole.
    [[nodiscard]] std::string ragged(const std::string& run) const;
    /// Reads a run's elements into `name`; where `optional` is null they are 1.
    [[nodiscard]] std::string read(const std::string& name, const std::string& optional) const;
    /// Writes a run's elements.
    [[nodiscard]] std::string write(const std::string& name) const;
    /// Reads what the gradients that `sum` adds to hold.
    [[nodiscard]] std::string read_old(const std::string& sum, const std::string& name,
                                       const std::string& mode) const;
    /// Adds a run's gradients, to what was read or to the sums.
    [[nodiscard]] std::string add(const std::string& sum, const std::string& gradients,
                                  const std::string& old, const std::string& mode) const;
};

}  // namespace kf::gen

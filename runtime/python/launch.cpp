// Reads counts of threads.
#include "python/launch.h"

#include <limits>

#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

std::array<std::uint32_t, 3> count_of(const Where& where, std::span<PyObject* const> given,
                                      std::string_view form) {
    if (given.empty() || given.size() > 3) {
        refuse(ErrorCode::type_mismatch, where,
               "one to three numbers are needed, as in " + std::string(form) + ", not " +
                   std::to_string(given.size()));
    }
    std::array<std::uint32_t, 3> count{1, 1, 1};
    for (std::size_t d = 0; d < given.size(); ++d) {
        const py::handle one = given[d];
        if (!is_integer(one)) {
            refuse(ErrorCode::type_mismatch, where, "an integer is needed, not " + shown(one));
        }
        constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
        const std::int64_t number = integer_of(one, where, 0, most, "from 0 to 2^32 - 1");
        count.at(d) = static_cast<std::uint32_t>(number);
    }
    return count;
}

std::array<std::uint32_t, 3> size_of(const std::string& function, const char* name, const py::handle& given) {
    const Where where{function, name};
    constexpr std::string_view form = "(8, 8, 1)";
    PyObject* const number = given.ptr();
    if (py::isinstance<py::int_>(given)) return count_of(where, {&number, 1}, form);
    if (!py::isinstance<py::tuple>(given) && !py::isinstance<py::list>(given)) {
        refuse(ErrorCode::type_mismatch, where,
               "a tuple of one to three numbers is needed, as in (8, 8, 1), not " +
                   shown(py::reinterpret_borrow<py::object>(given)));
    }
    const py::tuple all(py::reinterpret_borrow<py::object>(given));
    return count_of(where, {PySequence_Fast_ITEMS(all.ptr()), all.size()}, form);
}

}  // namespace

Launch launch_of(const std::string& function, const char* what, std::span<PyObject* const> count,
                 bool in_groups) {
    return {
        count_of({function, what}, count, in_groups ? "groups(x, y, z)" : "threads(x, y, z)"), in_groups, {}};
}

Launch raw_launch_of(const std::string& function, const py::handle& block_size, const py::handle& grid_size) {
    Launch launch{size_of(function, "gridSize", grid_size), true, {}};
    launch.group_size = size_of(function, "blockSize", block_size);
    return launch;
}

}  // namespace kf::python

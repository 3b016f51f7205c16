// How the functions of a generated module are configured all at once.
#include <kf/change.h>

namespace kf::detail {

Change Change::of_options(const Options& chosen) {
    return {Takes::options, [&chosen](const FunctionRef& function) { return function.with(chosen); }};
}

FunctionRef Change::made(const FunctionRef& function, Takes takes) const {
    const bool applies =
        (static_cast<unsigned>(takes) & static_cast<unsigned>(needed_)) == static_cast<unsigned>(needed_);
    return applies ? make_(function) : function;
}

}  // namespace kf::detail

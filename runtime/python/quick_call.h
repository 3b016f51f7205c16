// The short way of a call from Python: as one like it was made before, without looking at it anew.
#pragma once

#include <kf/invoke.h>

#include "python/argument_tags.h"
#include "python/encoder.h"
#include "python/function.h"
#include "python/known_calls.h"

namespace kf::python {

/// One call. Needs Python's lock.
class QuickCall {
public:
    QuickCall(const FunctionInfo& info, detail::PassKind pass, RecordedCalls* encoder,
              const Arguments& arguments);

    /// Makes the call. Returns null, with nothing done or raised, where no call like it is known, or anything
    /// about it is odd: the long way then says what.
    py::object run(const Options& options, Encoder* before);
    /// What watches the call, as far as was looked.
    [[nodiscard]] const std::optional<WatchedCall>& watched() const { return tagged_.watched(); }
    /// Keeps what the long way found.
    void keep(const FunctionInfo& chosen, const manifest::Call& overload);

private:
    [[nodiscard]] CallKey key() const { return {arguments_, tagged_, pass_, encoder_ != nullptr}; }

    const FunctionInfo& info_;
    detail::PassKind pass_;
    RecordedCalls* encoder_;
    const Arguments& arguments_;
    TaggedArguments tagged_;
    bool may_be_kept_;
};

}  // namespace kf::python

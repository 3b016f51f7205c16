// The short way of a call from Python: as one like it was made before, without looking at it anew.
#pragma once

#include <kf/invoke.h>

#include "python/argument_tags.h"
#include "python/encoder.h"
#include "python/function.h"
#include "python/known_calls.h"

namespace kf::python {

/// The gradients that a backward pass makes for its caller, once it is known how it goes.
class MadeGradients {
public:
    virtual ~MadeGradients() = default;
    /// Makes them, and lends them to the call. Returns false where another way has to be gone.
    virtual bool make(TaggedArguments& arguments) = 0;
    /// Fills with zeros what is added to. Without Python's lock.
    virtual void clear(const Device& on) = 0;
};

/// One call. Needs Python's lock.
class QuickCall {
public:
    QuickCall(const FunctionInfo& info, detail::PassKind pass, RecordedCalls* encoder,
              const Arguments& arguments);
    /// Autograd's backward pass, see TaggedArguments::read_flat(). It isn't kept.
    QuickCall(const FunctionInfo& info, const Arguments& arguments, std::span<const Wanted> wanted);

    /// Makes the call. Returns null, with nothing done or raised, where no call like it is known, or anything
    /// about it is odd: the long way then says what.
    py::object run(const Options& options, Encoder* before, MadeGradients* gradients = nullptr);
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

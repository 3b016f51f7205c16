// Which of a function's overloads a call from Python means.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "core/resolve.h"
#include "python/arguments.h"
#include "python/function.h"
#include "python/given_object.h"

namespace kf::python {

/// What a call is given for one list of parameters.
struct TakenArguments {
    explicit TakenArguments(std::pmr::memory_resource* memory) : given(memory), forms(memory) {}

    const FunctionInfo* info = nullptr;
    std::pmr::vector<detail::Given*> given;  ///< one a parameter; null: not given
    std::pmr::vector<ResultForm> forms;      ///< the same: what is asked for in outputs' places
    std::size_t left_out = 0;                ///< outputs that aren't given
    std::optional<detail::Refusal> refused;  ///< why the arguments aren't for these parameters
};

/// One call's arguments, on their way to an overload. Needs the GIL.
class Overloads {
public:
    /// `encoder`: null for a call that runs at once.
    Overloads(const FunctionInfo& info, detail::PassKind pass, const RecordedCalls* encoder,
              const Arguments& arguments);
    /// Those of a call that PyTorch watches, whose tensors are described only. `casts`: by torch.autocast().
    Overloads(const FunctionInfo& info, const Arguments& arguments, bool casts);
    Overloads(const Overloads&) = delete;
    Overloads& operator=(const Overloads&) = delete;

    /// Resolves the call: the overload of the least cost. Throws what is wrong where none takes the
    /// arguments, or several do.
    void resolve();
    /// The same where the overload is known, as the same kinds of arguments have meant it before. Returns
    /// false where they aren't for its parameters.
    bool take_as(std::size_t overload);

    // Then:
    [[nodiscard]] const TakenArguments& taken() const { return *chosen_; }
    [[nodiscard]] std::size_t overload() const { return overload_; }
    [[nodiscard]] const Reader& reader() const { return reader_; }
    /// Adds what is given for each item of the overload, in order; null for nothing.
    void add_items(std::pmr::vector<GivenObject*>& items) const;

private:
    Overloads(const FunctionInfo& info, const RecordedCalls* encoder, const Arguments& arguments,
              Reader reader);
    void take(TakenArguments& taken);
    void take_globals(TakenArguments& taken);
    bool take_keyword(TakenArguments& taken, py::handle key, GivenObject& value);
    bool give(TakenArguments& taken, std::size_t i, GivenObject& value);
    bool ask(TakenArguments& taken, std::size_t i, ResultForm form) const;
    bool check_missing(TakenArguments& taken) const;
    [[nodiscard]] detail::Refusal missing(const FunctionInfo& info, std::size_t i) const;
    [[nodiscard]] const std::vector<std::size_t>& places(const FunctionInfo& info) const;

    std::array<std::byte, 6144> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    const FunctionInfo& info_;
    const Arguments& arguments_;
    const RecordedCalls* encoder_;
    Reader reader_;
    std::pmr::list<GivenObject> objects_{&memory_};  ///< positional ones, then those of keywords, then others
    TakenArguments own_{&memory_};
    std::pmr::list<TakenArguments> others_{&memory_};  ///< of the overloads with other parameters
    const TakenArguments* chosen_ = nullptr;
    std::size_t overload_ = 0;
};

/// Whether a keyword says how to call, instead of being for a parameter.
bool is_setting(std::string_view keyword);

}  // namespace kf::python

// The statements of a kernel for one call, or for the calls of a run: lists, filled argument by argument.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/argument_text.h"
#include "emit/view.h"

namespace kf::gen {

/// Lists of text are of statements, unless said otherwise. See templates/kernel_call.slang.mustache and
/// kernel_run.slang.mustache for the order in which they are made.
struct Body {
    /// `calls`: at a time.
    explicit Body(std::int64_t calls) : run(calls) {}

    /// Declares a local of each call's. `initial`: its value; `fill`: a statement after the declaration. Both
    /// are empty for none.
    void add_local(const std::string& type, const std::string& name, const std::string& initial,
                   const std::string& fill = {});
    void add_local(const std::string& type, const std::string& name, const View::List& fills);
    /// Declares what has a value for each call of a run.
    void keep(const std::string& type, const std::string& name);
    /// Declares where the call's element starts by the strides of that record, once, and returns the name.
    std::string add_offset(const ArgumentText& argument, const std::string& prefix,
                           manifest::RecordKind memory);
    /// Returns the scalars from one call's element to the next in kernels that walk rows, declared once.
    std::string step(const ArgumentText& argument);

    /// The template's values for one call: `stores` and `adds` of one call alone are its results.
    [[nodiscard]] View::Object view(const KernelContext& kernel) const;

    std::int64_t run;

    // Statements before all calls.
    View::List shared;  ///< elements that all calls share
    View::List steps;
    View::List wholes;     ///< of kernels that walk rows: what must be 0 to move runs whole
    View::List gradients;  ///< sums
    View::List row_gradients;

    // Statements for one call.
    View::List offsets;
    std::map<std::int64_t, View::List> row_offsets;  ///< what an index along each dimension adds to
    View::List locals;
    View::List sets;                  ///< globals, before the function is called
    std::vector<std::string> passed;  ///< to the function, or to its derivative
    std::vector<std::string> primal;  ///< of fused kernels: to the function itself
    std::string result;               ///< "kf_arg_return = ", or nothing
    View::List results;
    View::List stores;
    View::List adds;

    // Statements around the calls of a run.
    View::List kept;
    View::List loads;
    View::List run_loads;
    View::List run_stores;

    // Statements after all calls.
    View::List scratches;                      ///< sums that the last group rounds
    std::vector<std::string> scratch_targets;  ///< whose sums are rounded so far

private:
    /// Whether something of that name is to be declared; it is from then on.
    bool is_new(const std::string& name);

    std::vector<std::string> declared_;
};

}  // namespace kf::gen

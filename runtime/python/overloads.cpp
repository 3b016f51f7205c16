// Which of a function's overloads a call from Python means.
#include "python/overloads.h"

#include <algorithm>
#include <string>

#include "core/describe.h"
#include "core/items.h"
#include "core/roles.h"
#include "python/errors.h"
#include "python/parameter_names.h"

namespace kf::python {

using detail::Candidate;
using detail::PassKind;
using detail::Refusal;
using manifest::Form;
using manifest::OwnStruct;
using manifest::ParameterTree;
using manifest::Role;

namespace {

/// Always false.
bool refuse_taking(TakenArguments& taken, ErrorCode code, std::string text) {
    taken.refused = Refusal{code, std::move(text)};
    return false;
}

std::string place(const FunctionInfo& info, std::size_t i) {
    return "argument '" + info.parameters[i].keyword + "': ";
}

/// `given`: null for nothing.
void add(const manifest::Call& call, const ParameterTree& tree, GivenObject* given,
         std::pmr::vector<GivenObject*>& items) {
    const bool is_value = tree.own == OwnStruct::optional && tree.form == Form::value;
    if (given != nullptr && given->is_nothing() && !is_value) given = nullptr;
    if (tree.form != Form::fields) {
        items.push_back(given);
        return;
    }
    const bool array = manifest::is_array(tree);
    const bool tangent = call.arguments[static_cast<std::size_t>(tree.leaf)].tangent_of >= 0;
    if (given != nullptr && !array) given = &given->as_struct(tree, tangent);
    for (std::size_t i = 0; i < tree.fields.size(); ++i) {
        add(call, tree.fields[i],
            given == nullptr ? nullptr
            : array          ? &given->element(i)
            : tangent        ? given->field(tree, i)
                             : given->field_or_default(tree, i),
            items);
    }
}

/// Whether None is a value: of an optional that is read.
bool takes_none(const FunctionInfo& info, std::size_t i) {
    const HostParameter& parameter = info.parameters[i];
    if (is_only_written(parameter.role) || parameter.tangent_of) return false;
    return std::ranges::any_of(info.calls, [&](std::size_t call) {
        return info.function.calls[call].parameters[i].own == OwnStruct::optional;
    });
}

}  // namespace

bool is_setting(std::string_view keyword) {
    return keyword == "shape" || keyword == "stream" || keyword == "reads" || keyword == "writes";
}

Overloads::Overloads(const FunctionInfo& info, PassKind pass, const RecordedCalls* encoder,
                     const Arguments& arguments)
    : Overloads(info, encoder, arguments, {*info.views, *info.classes, pass, encoder != nullptr}) {}

Overloads::Overloads(const FunctionInfo& info, const Arguments& arguments, bool casts)
    : Overloads(info, nullptr, arguments,
                {*info.views, *info.classes, PassKind::forward, false, true, casts}) {}

Overloads::Overloads(const FunctionInfo& info, const RecordedCalls* encoder, const Arguments& arguments,
                     Reader reader)
    : info_(info), arguments_(arguments), encoder_(encoder), reader_(std::move(reader)) {
    for (PyObject* value : arguments.positional) objects_.emplace_back(reader_, value, &memory_);
    const Keywords& keywords = arguments.keywords;
    for (std::size_t i = 0; i < keywords.size(); ++i)
        objects_.emplace_back(reader_, keywords.values[i], &memory_);
}

void Overloads::resolve() {
    std::pmr::vector<Candidate> candidates(&memory_);
    candidates.reserve(info_.function.calls.size());
    const auto add_list = [&](const FunctionInfo& one, TakenArguments& taken) {
        taken.info = &one;
        take(taken);
        for (const std::size_t c : one.calls) {
            candidates.push_back({&one.function.calls[c], taken.given, others_.size(), taken.left_out,
                                  taken.refused ? &*taken.refused : nullptr});
        }
    };
    const auto lacks_pass = [&](const auto& one) { return !has_pass(*one, reader_.pass); };
    // What no overload has, the call itself says.
    const bool all = info_.others.empty() ||
                     (!has_pass(info_, reader_.pass) && std::ranges::all_of(info_.others, lacks_pass));
    if (all || has_pass(info_, reader_.pass)) add_list(info_, own_);
    for (const auto& other : info_.others)
        if (all || !lacks_pass(other)) add_list(*other, others_.emplace_back(&memory_));
    const std::size_t best = detail::resolve(
        {info_.function, candidates, runs_forward(reader_.pass), reader_.recorded, !reader_.described});
    const std::size_t list = candidates[best].list;
    chosen_ = list == 0 ? &own_ : &*std::next(others_.begin(), static_cast<std::ptrdiff_t>(list) - 1);
    overload_ = static_cast<std::size_t>(candidates[best].call - info_.function.calls.data());
}

bool Overloads::take_as(std::size_t overload) {
    const auto has = [&](const FunctionInfo& info) { return std::ranges::count(info.calls, overload) > 0; };
    const auto other = std::ranges::find_if(info_.others, [&](const auto& one) { return has(*one); });
    own_.info = has(info_) || other == info_.others.end() ? &info_ : other->get();
    take(own_);
    chosen_ = &own_;
    overload_ = overload;
    return !own_.refused;
}

void Overloads::add_items(std::pmr::vector<GivenObject*>& items) const {
    const manifest::Call& call = chosen_->info->function.calls[overload_];
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
        add(call, call.parameters[i], static_cast<GivenObject*>(chosen_->given[i]), items);
}

/// The parameters that positional arguments are for. Forward calls take the result by `out=` only; backward
/// calls also as the last positional argument.
const std::vector<std::size_t>& Overloads::places(const FunctionInfo& info) const {
    return runs_forward(reader_.pass) ? info.places : info.places_backward;
}

void Overloads::take(TakenArguments& taken) {
    const FunctionInfo& info = *taken.info;
    taken.given.resize(info.parameters.size());
    taken.forms.resize(info.parameters.size());
    const std::size_t positional = arguments_.positional.size();
    if (positional > places(info).size()) {
        const auto is_result = [](const HostParameter& parameter) { return parameter.role == Role::result; };
        const bool takes_out = runs_forward(reader_.pass) && std::ranges::any_of(info.parameters, is_result);
        refuse_taking(taken, ErrorCode::type_mismatch,
                      std::to_string(positional) + " positional arguments where at most " +
                          std::to_string(places(info).size()) + " are taken (" +
                          parameter_list(info, places(info)) + ")" +
                          (takes_out ? "; the result goes where out= says" : ""));
        return;
    }
    auto object = objects_.begin();
    for (std::size_t i = 0; i < positional; ++i)
        if (!give(taken, places(info)[i], *object++)) return;
    const Keywords& keywords = arguments_.keywords;
    for (std::size_t i = 0; i < keywords.size(); ++i)
        if (!take_keyword(taken, keywords.name(i), *object++)) return;
    take_globals(taken);
    // The tangent of an object that its method changes is changed where it lies, as the object is.
    if (info.object_tangents) {
        const auto [tangent, written] = *info.object_tangents;
        if (taken.given[tangent] != nullptr) {
            const auto& primal = static_cast<GivenObject&>(*taken.given[tangent]);
            taken.given[written] = &objects_.emplace_back(reader_, primal.given(), &memory_);
        }
    }
    for (std::size_t i = 0; i < taken.given.size(); ++i) {
        const std::optional<std::size_t> primal = info.parameters[i].tangent_of;
        if (primal && info.parameters[i].role == Role::out && taken.given[i] == nullptr)
            taken.forms[i] = taken.forms[*primal];
    }
    if (!check_missing(taken) || arguments_.results == ResultForm::usual || !runs_forward(reader_.pass))
        return;
    for (std::size_t i = 0; i < taken.given.size(); ++i) {
        const bool is_made = is_only_written(info.parameters[i].role) && taken.given[i] == nullptr;
        if (is_made && taken.forms[i] == ResultForm::usual && !ask(taken, i, arguments_.results)) return;
    }
}

/// Has output `i` come back in a form.
bool Overloads::ask(TakenArguments& taken, std::size_t i, ResultForm form) const {
    taken.forms[i] = form;
    if (encoder_ == nullptr || form == ResultForm::tensor) return true;
    return refuse_taking(taken, ErrorCode::type_mismatch,
                         place(*taken.info, i) + encoder_->writes_later() + ": it can't make a " +
                             (form == ResultForm::array ? "NumPy array" : "torch.Tensor"));
}

void Overloads::take_globals(TakenArguments& taken) {
    for (std::size_t i = 0; arguments_.globals.size() > 0 && i < taken.given.size(); ++i) {
        if (!taken.info->parameters[i].is_global || taken.given[i] != nullptr) continue;
        PyObject* const value = arguments_.globals.find(taken.info->names[i]);
        if (value != nullptr) give(taken, i, objects_.emplace_back(reader_, value, &memory_));
    }
}

bool Overloads::take_keyword(TakenArguments& taken, py::handle key, GivenObject& value) {
    const FunctionInfo& info = *taken.info;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        if (info.names[i].is(key) && !info.parameters[i].hidden && !info.parameters[i].is_global)
            return give(taken, i, value);
    }
    const auto name = utf8_of(key);
    if (is_setting(name)) return true;
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
        const HostParameter& parameter = info.parameters[i];
        const bool result = parameter.role == Role::result;
        if (parameter.hidden) continue;
        // The keys of tangents={…} may be Slang's names, too.
        if (result ? name == "out" || (reader_.pass == PassKind::backward && name == "result")
                   : name == parameter.keyword || (parameter.tangent_of && name == parameter.name)) {
            return give(taken, i, value);
        }
    }
    return refuse_taking(taken, ErrorCode::unknown_name,
                         "no argument '" + std::string(name) + "'; it takes " + parameter_list(info) +
                             (name == "_result" ? ": did you mean 'out'?" : ""));
}

bool Overloads::give(TakenArguments& taken, std::size_t i, GivenObject& value) {
    const FunctionInfo& info = *taken.info;
    const auto no = [&](const std::string& text) {
        return refuse_taking(taken, ErrorCode::type_mismatch, place(info, i) + text);
    };
    const auto is_asked = [&](std::size_t k) { return taken.forms[k] != ResultForm::usual; };
    if (taken.given[i] != nullptr || is_asked(i)) return no("given twice");
    const ResultForm form =
        is_only_written(info.parameters[i].role) ? asked_form(value.given()) : ResultForm::usual;
    if (form != ResultForm::usual) {
        if (reader_.pass == PassKind::backward) {
            return no(
                form == ResultForm::array
                    ? "np.ndarray asks for an output as an array; a backward pass takes the output itself"
                    : shown(value.given()) + " asks for an output; a backward pass takes the output itself");
        }
        return ask(taken, i, form);
    }
    if (PyTuple_Check(value.given().ptr()) != 0) {
        if (const std::string fields = fields_of_results(info, value.given()); !fields.empty()) {
            return no("all results of a call are given together, as it returned them: give each by name, " +
                      fields);
        }
    }
    if (!value.is_nothing() || takes_none(info, i)) taken.given[i] = &value;
    return true;
}

bool Overloads::check_missing(TakenArguments& taken) const {
    for (std::size_t i = 0; i < taken.given.size(); ++i) {
        const HostParameter& parameter = taken.info->parameters[i];
        if (taken.given[i] != nullptr || parameter.hidden || parameter.tangent_of) continue;
        if (parameter.is_global && reader_.described) continue;
        if (!is_only_written(parameter.role)) {
            taken.refused = missing(*taken.info, i);
            return false;
        }
        // A backward pass that lacks its result is as near as one whose result could be the other's input.
        const bool counts = parameter.role != Role::result || reader_.pass != PassKind::backward;
        taken.left_out += counts && taken.forms[i] == ResultForm::usual ? 1 : 0;
    }
    return true;
}

/// Outputs have places too: what is missing may be one that was passed over.
Refusal Overloads::missing(const FunctionInfo& info, std::size_t i) const {
    const std::vector<std::size_t>& places = this->places(info);
    const auto& positional = arguments_.positional;
    const std::string& name = info.parameters[i].keyword;
    if (info.parameters[i].is_global) return {ErrorCode::missing_argument, detail::unset_global_text(name)};
    std::string passed_over;
    std::string way;
    for (std::size_t k = 0; k < places.size() && places[k] <= i; ++k) {
        const HostParameter& parameter = info.parameters[places[k]];
        const bool is_made = parameter.role == Role::out;
        way += (k > 0 ? ", " : "") + (is_made ? "None" : parameter.keyword);
        const py::handle value = k < positional.size() ? positional[k] : Py_None;
        if (!is_made || value.is_none() || !passed_over.empty()) continue;
        const bool is_number = PyNumber_Check(value.ptr()) != 0 && !py::hasattr(value, "shape");
        passed_over = place(info, places[k]) + "an output, which has its place among the arguments, too: " +
                      (is_number ? std::string(py::repr(value)) : detail::with_article(type_name(value)));
    }
    if (passed_over.empty()) return {ErrorCode::missing_argument, place(info, i) + "not given"};
    const std::string more = places.back() > i ? ", …" : "";
    return {ErrorCode::missing_argument, passed_over + " stands there, so that '" + name +
                                             "' is not given; pass None for it, (" + way + more +
                                             "), or name what follows it"};
}

}  // namespace kf::python

// Reading and storing elements.
#include "emit/element_statements.h"

#include <algorithm>
#include <optional>

#include "emit/kinds/questions.h"
#include "emit/kinds/texture.h"
#include "emit/loops.h"

namespace kf::gen {

using manifest::RecordKind;
using manifest::Role;

namespace {

/// The names of one tensor of an argument's, and how it is walked.
struct Place {
    RecordKind memory;
    std::string offset;  ///< begins the name of where the call's element starts
    std::string kept;    ///< begins the name of what a run's elements are kept in
};

const Place& place_of(Source source) {
    static const Place data{RecordKind::data, "kf_at_", "kf_kept_"};
    static const Place gradient{RecordKind::grad_in, "kf_flowat_", "kf_flow_"};
    return source == Source::data ? data : gradient;
}

/// Where the call's element starts, in scalars.
std::string element_offset(Body& body, const ArgumentText& x, const Place& place) {
    if (!x.kernel.strided) return times(x.contiguous_index(), x.pitch());
    if (x.host.call_rank == 0) return "0";
    return body.add_offset(x, place.offset, place.memory);
}

/// The scalar of a looped element that the loops are at.
std::string scalar_at(Body& body, const ArgumentText& x, const Place& place) {
    return x.element(x.address(place.memory),
                     element_offset(body, x, place) + along(x.trailing_strides(place.memory)));
}

/// The element as it lies in memory.
std::string element_at(Body& body, const ArgumentText& x, const Place& place) {
    const std::string address = x.address(place.memory);
    if (!x.kernel.strided && !is_read_by_scalars(x.planned))
        return address + "[" + x.contiguous_index() + "]";
    const std::string offset = element_offset(body, x, place);
    const std::vector<std::string> trailing = x.trailing_strides(place.memory);
    if (trailing.empty()) return x.element(address, offset);
    return "kf.load<" + x.stored_scalar() + ", " + std::to_string(x.scalars()) + ">(" +
           x.pointer(address, offset) + ", " + trailing[0] + ")";
}

/// The element at an index of a contiguous tensor.
std::string contiguous_element(const ArgumentText& x, const std::string& index) {
    const std::string address = x.address(RecordKind::data);
    if (!is_read_by_scalars(x.planned)) return address + "[" + index + "]";
    return "kf.load<" + x.stored_scalar() + ", " + std::to_string(x.scalars()) + ">(" + address + " + " +
           times(index, x.scalars()) + ", 1)";
}

/// Returns what flows into the call that gave the element; into others 0 flows.
std::string of_first_call(const ArgumentText& x, const std::string& flowing, const std::string& type) {
    // Where calls share elements the kernel is a strided one.
    const KernelContext& kernel = x.kernel;
    if (!takes_first(x.host, kernel.pass) || !kernel.strided || kernel.call.rank == 0) return flowing;
    const RecordKind strides = x.writes_gradient() ? RecordKind::grad_out : RecordKind::strides;
    return x.is_first(strides) + " ? (" + flowing + ") : " + type + "(0)";
}

/// Returns the loaded value as the function takes it. A missing tangent is 0, a missing gradient 1.
std::string value_of(const ArgumentText& x, Source source, const std::string& loaded,
                     const std::string& type) {
    const std::string is_there = x.address(place_of(source).memory) + " != nullptr ? ";
    if (source == Source::gradient) return of_first_call(x, is_there + loaded + " : " + type + "(1)", type);
    const std::string value = x.from_storage(loaded);
    return x.host.tangent_of < 0 ? value : is_there + value + " : " + type + "(0)";
}

std::string load_scalar(Body& body, const ArgumentText& x, Source source) {
    return value_of(x, source, scalar_at(body, x, place_of(source)), x.scalar());
}

/// Declares a local that holds what the kernel makes.
std::string add_made(Body& body, const ArgumentText& x, const std::string& qualifier,
                     const std::string& name) {
    const MadeUse use = made_use(x);
    const MadeValue made = made_value(use).value();
    if (made.value.empty()) {
        body.add_local("uint", use.state, made.first);
        body.add_local(x.type(), name, {}, x.loop(x.subscripted(name) + " = " + made.next));
    } else {
        body.add_local(qualifier + x.type(), name, made.value);
    }
    return name;
}

std::string run_step(const ArgumentText& x) { return x.kernel.run.step(x.kernel.call.group_size[0]); }

/// Loads an element in a run of calls that lie in fours. An input of one element for all calls is loaded
/// once, before the first.
std::string load_quads(Body& body, const ArgumentText& x, Source source) {
    const std::string name = place_of(source).kept + x.id;
    const std::string address = x.address(place_of(source).memory);
    std::string read = name + ".load(" + address + ", kf_first, " + run_step(x) + ")";
    if (source == Source::gradient || x.host.tangent_of >= 0) {
        read = "if (" + address + " != nullptr) " + read + "; else " + name + ".fill(" + x.stored_scalar() +
               (source == Source::gradient ? "(1))" : "(0))");
    } else if (x.host.role == Role::in && x.host.call_rank > 0) {
        const std::string shared = "kf_shared_" + x.id;
        body.shared.emplace_back(View::Object{
            {"type", x.stored_scalar()}, {"name", shared}, {"value", contiguous_element(x, "0")}});
        read = "if (" + x.step() + " == 0) " + name + ".fill(" + shared + "); else " + read;
    }
    keep_quads(body, x, name);
    body.run_loads.emplace_back(read);
    return x.from_storage(name + ".get(kf_u)");
}

/// Loads a run's elements together, in kernels that walk rows.
std::string load_in_row(Body& body, const ArgumentText& x, Source source) {
    const Place& place = place_of(source);
    const std::string name = place.kept + x.id;
    const std::string address = x.address(place.memory);
    const RowText text =
        row_text(body, x, x.stored_scalar(), x.pointer(address, element_offset(body, x, place)));
    body.keep(text.type(), name);
    body.run_loads.emplace_back(text.read(name, source == Source::gradient ? address : ""));
    return x.from_storage(name + (x.host.trailing.empty() ? "[kf_u][0]" : "[kf_u]"));
}

/// Loads an element in a run: it is kept for the calls of the run and read back.
std::string load_in_run(Body& body, const ArgumentText& x, Source source) {
    const std::string name = place_of(source).kept + x.id;
    body.keep(x.type(), name);
    // An input of one element for all calls is loaded once, before the first.
    if (source == Source::data && x.host.role == Role::in && x.host.call_rank > 0) {
        const std::string shared = "kf_shared_" + x.id;
        const auto value = [&](const std::string& index) {
            return value_of(x, source, contiguous_element(x, index), x.type());
        };
        body.shared.emplace_back(View::Object{{"type", x.type()}, {"name", shared}, {"value", value("0")}});
        body.loads.emplace_back("if (" + x.step() + " == 0) " + name + "[kf_u] = " + shared + "; else " +
                                name + "[kf_u] = " + value("kf_call"));
    } else {
        body.loads.emplace_back(
            name + "[kf_u] = " + value_of(x, source, element_at(body, x, place_of(source)), x.type()));
    }
    return name + "[kf_u]";
}

void add_row_store(Body& body, const ArgumentText& x, const std::string& local) {
    const Place& place = place_of(Source::data);
    const RowText text = row_text(body, x, x.stored_scalar(),
                                  x.pointer(x.address(place.memory), element_offset(body, x, place)));
    const std::string name = "kf_out_" + x.id;
    body.keep(text.type(), name);
    body.results.emplace_back(name + (x.host.trailing.empty() ? "[kf_u][0] = " : "[kf_u] = ") +
                              x.to_storage(local, x.host.trailing));
    body.run_stores.emplace_back(text.write(name));
}

}  // namespace

MadeUse made_use(const ArgumentText& x) {
    MadeUse use{x.planned, x.index, x.kernel.fields, {}, "kf_hash_" + x.id};
    for (std::int64_t d = 0; d < x.kernel.call.rank; ++d)
        use.indices.push_back(x.kernel.has_indices() ? index_name(d) : "kf_call");
    return use;
}

std::string load(Body& body, const ArgumentText& x, Source source) {
    if (source == Source::data) {
        if (const std::optional<MadeValue> made = made_value(made_use(x))) return made->value;
        if (supply_of(x.host) == Supply::block) return x.narrowed(x.value());
    }
    if (x.kernel.rows) return load_in_row(body, x, source);
    if (moves_quads(body, x)) return load_quads(body, x, source);
    if (body.run > 1) return load_in_run(body, x, source);
    return value_of(x, source, element_at(body, x, place_of(source)), x.type());
}

std::string add_loaded(Body& body, const ArgumentText& x, const std::string& qualifier,
                       const std::string& name, Source source) {
    if (supply_of(x.host) == Supply::made) return add_made(body, x, qualifier, name);
    if (is_looped(x.planned)) {
        body.add_local(x.type(), name, {},
                       x.loop(x.subscripted(name) + " = " + load_scalar(body, x, source)));
    } else {
        body.add_local(qualifier + x.type(), name, load(body, x, source));
    }
    return name;
}

namespace {

/// The end of the first part of Slang's own structs that a place leads through: "kf_arg_k.kf_value"; none: 0.
std::size_t end_of_own_part(const std::string& place) {
    const std::size_t part = place.find(".kf_");
    return part == std::string::npos ? 0 : std::min(place.find_first_of(".[", part + 1), place.size());
}

/// Reads, changes and sets a part that is a property: its elements can't be assigned to.
std::string with_part(const std::string& part, const std::string& owner, const std::string& change) {
    return "{ var " + part + " = " + owner + "; " + change + "; " + owner + " = " + part + "; }";
}

std::string set_one(const std::string& place, const std::string& value, int depth = 0) {
    const std::size_t end = end_of_own_part(place);
    if (end == 0 || place.find('[', end) == std::string::npos) return place + " = " + value;
    const std::string part = "kf_part" + std::to_string(depth);
    return with_part(part, place.substr(0, end), set_one(part + place.substr(end), value, depth + 1));
}

/// Sets a matrix's or an array's scalars to `value`.
std::string set_all(const ArgumentText& x, const std::string& place, const std::string& value,
                    int depth = 0) {
    const std::size_t end = end_of_own_part(place);
    const std::string owner = place.substr(0, end);
    if (end == 0 || owner.find("[]") != std::string::npos)
        return x.loop(set_one(x.subscripted(place), value, depth));
    const std::string part = "kf_part" + std::to_string(depth);
    return with_part(part, owner, set_all(x, part + place.substr(end), value, depth + 1));
}

}  // namespace

std::string fill_field(Body& body, const ArgumentText& x, const std::string& place, Source source) {
    const bool looped = is_looped(x.planned);
    if (source == Source::gradient && !reads_gradient(x.host, x.kernel.pass)) {
        // The result in a field that isn't written goes nowhere, so that its gradient is 0.
        return looped ? set_all(x, place, x.scalar() + "(0)") : place + " = " + x.type() + "(0)";
    }
    if (!looped) return place + " = " + load(body, x, source);
    if (supply_of(x.host) == Supply::made) return place + " = " + add_made(body, x, "", "kf_made_" + x.id);
    return set_all(x, place, load_scalar(body, x, source));
}

void add_store(Body& body, const ArgumentText& x, const std::string& local) {
    if (supply_of(x.host) == Supply::texel) {
        body.stores.emplace_back(texel_store(x, local));
        return;
    }
    if (x.kernel.rows) return add_row_store(body, x, local);
    const Place& place = place_of(Source::data);
    const std::string target = x.address(place.memory);
    const std::string kept = "kf_out_" + x.id;
    const std::vector<std::int64_t>& extents = x.host.trailing;
    if (moves_quads(body, x)) {
        keep_quads(body, x, kept);
        body.results.emplace_back(kept + ".set(kf_u, " + x.to_storage(local, extents) + ")");
        body.run_stores.emplace_back(kept + ".store(" + target + ", kf_first, " + run_step(x) + ")");
        return;
    }
    std::string name = local;
    if (body.run > 1) {
        body.keep(x.type(), kept);
        name = kept + "[kf_u]";
        body.results.emplace_back(name + " = " + local);
    }
    const std::vector<std::string> trailing = x.trailing_strides(place.memory);
    std::string statement;
    if (is_looped(x.planned)) {
        statement = x.loop(scalar_at(body, x, place) + " = " + x.to_storage(x.subscripted(name), {}));
    } else if (trailing.empty() || (!x.kernel.strided && !is_read_by_scalars(x.planned))) {
        statement = element_at(body, x, place) + " = " + x.to_storage(name, extents);
    } else {
        statement = "kf.store(" + x.pointer(target, element_offset(body, x, place)) + ", " + trailing[0] +
                    ", " + x.to_storage(name, extents) + ")";
    }
    body.stores.emplace_back(statement);
}

bool moves_quads(const Body& body, const ArgumentText& x) {
    return body.run > 1 && x.kernel.run.beside > 1 && moves_in_quads(x.planned);
}

void keep_quads(Body& body, const ArgumentText& x, const std::string& name) {
    body.kept.emplace_back(
        View::Object{{"type", "kf.Quads<" + x.stored_scalar() + ", " + std::to_string(body.run) + ">"},
                     {"name", name},
                     {"array", ""}});
}

RowText row_text(Body& body, const ArgumentText& x, const std::string& scalar, const std::string& row) {
    RowText text{scalar, x.scalars(), row, body.step(x)};
    const std::string ragged = text.ragged(std::to_string(x.kernel.run.length));
    if (std::none_of(body.wholes.begin(), body.wholes.end(),
                     [&](const View& known) { return *known.text() == ragged; }))
        body.wholes.emplace_back(ragged);
    return text;
}

}  // namespace kf::gen

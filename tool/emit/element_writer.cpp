// Reading and storing elements.
#include "emit/element_writer.h"

#include <algorithm>
#include <numeric>

#include "plan/types.h"

namespace kf::gen {

using manifest::Role;
using manifest::SlotKind;

bool ElementWriter::has_indices() const { return (strided_ && call_.rank > 0) || needs_indices(call_); }

std::string ElementWriter::if_there(const std::string& loaded, const std::string& type) const {
    if (host().tangent_of < 0) return loaded;
    return args(SlotKind::address) + " != nullptr ? " + loaded + " : " + type + "(0)";
}

std::string ElementWriter::add_loaded(const std::string& qualifier, const std::string& name, Source source) {
    if (supply_of(host()) == Supply::made) return add_made(qualifier, name);
    if (!is_looped(*planned_)) {
        add_local(qualifier + slang_type(), name, source == Source::data ? load() : load_gradient());
        return name;
    }
    const std::string scalar = source == Source::data ? load_scalar() : load_gradient_scalar();
    add_local(slang_type(), name, {}, loop(subscripted(name) + " = " + scalar));
    return name;
}

MadeUse ElementWriter::made_use() const {
    MadeUse use{*planned_, index_, fields_, {}, "kf_hash_" + argument_id(host())};
    for (std::int64_t d = 0; d < call_.rank; ++d) {
        use.indices.push_back(has_indices() ? index_name(d) : "kf_call");
    }
    return use;
}

std::string ElementWriter::add_made(const std::string& qualifier, const std::string& name) {
    const MadeUse use = made_use();
    const MadeValue made = made_value(use).value();
    if (made.value.empty()) {
        add_local("uint", use.state, made.first);
        add_local(slang_type(), name, {}, loop(subscripted(name) + " = " + made.next));
    } else {
        add_local(qualifier + slang_type(), name, made.value);
    }
    return name;
}

std::string ElementWriter::load() {
    if (const std::optional<MadeValue> made = made_value(made_use())) return made->value;
    if (supply_of(host()) == Supply::block) return narrowed(args(SlotKind::value));
    if (rows_) {
        return in_row("kf_kept_" + argument_id(host()),
                      pointer(args(SlotKind::address), element_offset(data_strides, "kf_at_")), {});
    }
    if (moves_quads()) return add_quads();
    if (run_ > 1 && host().role == Role::in && host().call_rank > 0) return in_shared_run();
    return in_run("kf_kept_" + argument_id(host()),
                  if_there(from_storage(load_from(SlotKind::address, data_strides, "kf_at_")), slang_type()));
}

std::string ElementWriter::in_shared_run() {
    const std::string name = "kf_kept_" + argument_id(host());
    const std::string shared = "kf_shared_" + argument_id(host());
    shared_.emplace_back(View::Object{{"type", slang_type()},
                                      {"name", shared},
                                      {"value", if_there(from_storage(load_contiguous("0")), slang_type())}});
    keep(slang_type(), name);
    loads_.emplace_back(View::Object{
        {"statement", "if (" + args(SlotKind::step) + " == 0) " + name + "[kf_u] = " + shared + "; else " +
                          name +
                          "[kf_u] = " + if_there(from_storage(load_contiguous("kf_call")), slang_type())}});
    return name + "[kf_u]";
}

bool ElementWriter::moves_quads() const {
    return run_ > 1 && whole_run_.beside > 1 && moves_in_quads(*planned_);
}

std::string ElementWriter::quads_or(const std::string& name, const std::string& address,
                                    const std::string& otherwise) {
    return "if (" + address + " != nullptr) " + load_quads(name, address) + "; else " + name + ".fill(" +
           stored_scalar() + "(" + otherwise + "))";
}

std::string ElementWriter::load_quads(const std::string& name, const std::string& address) const {
    return name + ".load(" + address + ", kf_first, " + whole_run_.step(call_.group_size[0]) + ")";
}

void ElementWriter::keep_quads(const std::string& name) {
    kept_.emplace_back(
        View::Object{{"type", "kf.Quads<" + stored_scalar() + ", " + std::to_string(run_) + ">"},
                     {"name", name},
                     {"array", ""}});
}

std::string ElementWriter::read_quads(const std::string& name, const std::string& read) {
    keep_quads(name);
    run_loads_.emplace_back(View::Object{{"statement", read}});
    return from_storage(name + ".get(kf_u)");
}

std::string ElementWriter::add_quads() {
    const std::string name = "kf_kept_" + argument_id(host());
    const std::string address = args(SlotKind::address);
    if (host().tangent_of >= 0) return read_quads(name, quads_or(name, address, "0"));
    if (host().role != Role::in || host().call_rank == 0) return read_quads(name, load_quads(name, address));
    // An input of one element for all calls is loaded once, before the first.
    const std::string shared = "kf_shared_" + argument_id(host());
    shared_.emplace_back(
        View::Object{{"type", stored_scalar()}, {"name", shared}, {"value", load_contiguous("0")}});
    return read_quads(name, "if (" + args(SlotKind::step) + " == 0) " + name + ".fill(" + shared +
                                "); else " + load_quads(name, address));
}

std::string ElementWriter::load_contiguous(const std::string& index) const {
    const std::string address = args(SlotKind::address);
    if (!is_read_by_scalars(*planned_)) return address + "[" + index + "]";
    const std::int64_t count = scalar_count(host().trailing);
    return "kf.load<" + stored_scalar() + ", " + std::to_string(count) + ">(" + address + " + " +
           times(index, count) + ", 1)";
}

RowText ElementWriter::row_text(const std::string& scalar, const std::string& row) {
    RowText text{scalar, scalar_count(host().trailing), row, step()};
    if (std::find(whole_rows_.begin(), whole_rows_.end(), row) == whole_rows_.end()) {
        whole_rows_.push_back(row);
        wholes_.emplace_back(View::Object{{"ragged", text.ragged(std::to_string(whole_run_.length))}});
    }
    return text;
}

std::string ElementWriter::in_row(const std::string& name, const std::string& row,
                                  const std::string& optional) {
    const RowText text = row_text(stored_scalar(), row);
    keep(text.type(), name);
    run_loads_.emplace_back(View::Object{{"statement", text.read(name, optional)}});
    return from_storage(name + (host().trailing.empty() ? "[kf_u][0]" : "[kf_u]"));
}

std::string ElementWriter::in_run(const std::string& name, const std::string& loaded) {
    if (run_ == 1) return loaded;
    keep(slang_type(), name);
    loads_.emplace_back(View::Object{{"statement", name + "[kf_u] = " + loaded}});
    return name + "[kf_u]";
}

void ElementWriter::keep(const std::string& type, const std::string& name) {
    kept_.emplace_back(
        View::Object{{"type", type}, {"name", name}, {"array", "[" + std::to_string(run_) + "]"}});
}

std::string ElementWriter::is_first(SlotKind stride) const {
    std::string text;
    for (std::int64_t d = 0; d < call_.rank; ++d) {
        const bool moves = std::find(host().map.begin(), host().map.end(), d) != host().map.end();
        const std::string here = index_name(d) + " == 0";
        text +=
            (text.empty() ? "" : " && ") + (moves ? "(" + args(stride, d) + " != 0 || " + here + ")" : here);
    }
    return text;
}

std::string ElementWriter::of_first_call(const std::string& flowing, const std::string& type) const {
    // Where calls share elements the kernel is a strided one.
    if (!takes_first(host(), pass_) || !strided_ || call_.rank == 0) return flowing;
    const SlotKind stride = writes_gradient(host(), pass_) ? SlotKind::grad_out_stride : SlotKind::stride;
    return is_first(stride) + " ? (" + flowing + ") : " + type + "(0)";
}

std::string ElementWriter::load_gradient() {
    // A missing output gradient means 1.
    if (rows_) {
        const std::string address = args(SlotKind::grad_in);
        return in_row("kf_flow_" + argument_id(host()),
                      pointer(address, element_offset(grad_in_strides, "kf_flowat_")), address);
    }
    if (moves_quads()) {
        const std::string name = "kf_flow_" + argument_id(host());
        const std::string address = args(SlotKind::grad_in);
        return read_quads(name, quads_or(name, address, "1"));
    }
    return in_run("kf_flow_" + argument_id(host()),
                  of_first_call(args(SlotKind::grad_in) + " != nullptr ? " +
                                    load_from(SlotKind::grad_in, grad_in_strides, "kf_flowat_") + " : " +
                                    slang_type() + "(1)",
                                slang_type()));
}

std::string ElementWriter::load_scalar() {
    return if_there(from_storage(scalar_at(SlotKind::address, data_strides, "kf_at_")),
                    to_string(host().element.scalar));
}

std::string ElementWriter::load_gradient_scalar() {
    const std::string scalar = to_string(host().element.scalar);
    return of_first_call(args(SlotKind::grad_in) + " != nullptr ? " +
                             scalar_at(SlotKind::grad_in, grad_in_strides, "kf_flowat_") + " : " + scalar +
                             "(1)",
                         scalar);
}

std::string ElementWriter::load_from(SlotKind address, StrideKinds strides, const std::string& prefix) {
    if (!strided_ && !is_read_by_scalars(*planned_)) return args(address) + "[" + contiguous_index() + "]";
    const std::string offset = element_offset(strides, prefix);
    const std::vector<std::string> trailing = trailing_strides(strides.trailing);
    const std::string place = pointer(args(address), offset);
    if (trailing.empty()) return strided_ ? place + "[0]" : element(args(address), offset);
    return "kf.load<" + stored_scalar() + ", " + std::to_string(scalar_count(host().trailing)) + ">(" +
           place + ", " + trailing[0] + ")";
}

std::string ElementWriter::scalar_at(SlotKind address, StrideKinds strides, const std::string& prefix) {
    return element(args(address),
                   element_offset(strides, prefix) + along(trailing_strides(strides.trailing)));
}

void ElementWriter::add_store(const std::string& local) {
    if (rows_) return add_row_store(local);
    const std::string target = args(SlotKind::address);
    const std::string kept = "kf_out_" + argument_id(host());
    if (moves_quads()) {
        keep_quads(kept);
        results_.emplace_back(
            View::Object{{"statement", kept + ".set(kf_u, " + to_storage(local, host().trailing) + ")"}});
        run_stores_.emplace_back(View::Object{{"statement", kept + ".store(" + target + ", kf_first, " +
                                                                whole_run_.step(call_.group_size[0]) + ")"}});
        return;
    }
    std::string name = local;
    if (run_ > 1) {
        keep(slang_type(), kept);
        name = kept + "[kf_u]";
        results_.emplace_back(View::Object{{"statement", name + " = " + local}});
    }
    const std::vector<std::string> trailing = trailing_strides(data_strides.trailing);
    std::string statement;
    if (is_looped(*planned_)) {
        statement = loop(scalar_at(SlotKind::address, data_strides, "kf_at_") + " = " +
                         to_storage(subscripted(name), {}));
    } else if (!strided_ && !is_read_by_scalars(*planned_)) {
        statement = target + "[" + contiguous_index() + "] = " + to_storage(name, host().trailing);
    } else {
        const std::string offset = element_offset(data_strides, "kf_at_");
        const std::string value = to_storage(name, host().trailing);
        statement = trailing.empty()
                        ? element(target, offset) + " = " + value
                        : "kf.store(" + pointer(target, offset) + ", " + trailing[0] + ", " + value + ")";
    }
    stores_.emplace_back(View::Object{{"statement", statement}});
}

void ElementWriter::add_row_store(const std::string& local) {
    const RowText text =
        row_text(stored_scalar(), pointer(args(SlotKind::address), element_offset(data_strides, "kf_at_")));
    const std::string name = "kf_out_" + argument_id(host());
    keep(text.type(), name);
    results_.emplace_back(
        View::Object{{"statement", name + (host().trailing.empty() ? "[kf_u][0] = " : "[kf_u] = ") +
                                       to_storage(local, host().trailing)}});
    run_stores_.emplace_back(View::Object{{"statement", text.write(name)}});
}

std::string ElementWriter::element_offset(StrideKinds strides, const std::string& prefix) {
    if (!strided_) return times(contiguous_index(), pitch());
    if (host().call_rank == 0) return "0";
    return add_offset(prefix + argument_id(host()), strides.call);
}

std::string ElementWriter::step() {
    std::string count = std::to_string(scalar_count(host().trailing));
    if (host().call_rank == 0) return "0";
    if (!has_step(host())) return count;
    std::string name = "kf_step_" + argument_id(host());
    if (std::find(offset_names_.begin(), offset_names_.end(), name) == offset_names_.end()) {
        steps_.emplace_back(
            View::Object{{"name", name}, {"value", "int(" + args(SlotKind::step) + ") * " + count}});
        offset_names_.push_back(name);
    }
    return name;
}

std::string ElementWriter::add_offset(const std::string& name, SlotKind stride) {
    if (std::find(offset_names_.begin(), offset_names_.end(), name) != offset_names_.end()) return name;
    std::vector<std::int64_t> dimensions = host().map;
    if (stride == SlotKind::grad_out_stride && is_pushed(host())) {
        dimensions.resize(static_cast<std::size_t>(call_.rank));
        std::iota(dimensions.begin(), dimensions.end(), 0);
    }
    std::sort(dimensions.begin(), dimensions.end());
    std::string value;
    for (const std::int64_t d : dimensions) {
        row_offsets_[d].emplace_back(View::Object{{"name", name}, {"stride", args(stride, d)}});
        value += (value.empty() ? "" : " + ") + index_name(d) + " * " + args(stride, d);
    }
    View::Object view;
    view.emplace("name", name);
    if (!rows_) view.emplace("value", value);
    offsets_.emplace_back(view);
    offset_names_.push_back(name);
    return name;
}

void ElementWriter::add_local(const std::string& type, const std::string& name, const std::string& initial,
                              const std::string& fill) {
    View::List value;
    if (!initial.empty()) value.emplace_back(View::Object{{"text", initial}});
    View::List statements;
    if (!fill.empty()) statements.emplace_back(View::Object{{"statement", fill}});
    locals_.emplace_back(
        View::Object{{"type", type}, {"name", name}, {"initial", value}, {"fill", statements}});
}

}  // namespace kf::gen

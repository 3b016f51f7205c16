// Makes the templates' arguments from member functions: signatures, and the details that they don't show.
#include "emit/cpp_overloads.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/join.h"

namespace kf::gen {
namespace {

using How = CppItem::How;

bool takes_reference(const std::string& type) { return type.ends_with('&') && !type.starts_with("const "); }

/// The parameters of a method that aren't the encoder.
std::vector<std::string> own_types(const CppMethod& method) {
    const std::ptrdiff_t first = method.kind == CppMethodKind::append_to ? 1 : 0;
    return {method.types.begin() + first, method.types.end()};
}

bool records_the_same(const CppMethod& method, const CppMethod& recorded) {
    return recorded.kind == CppMethodKind::append_to && recorded.part == method.part &&
           recorded.call == method.call && recorded.result == method.result &&
           own_types(recorded) == own_types(method);
}

/// Whether the parameter that a place is in can be written to.
bool is_written_to(const CppMethod& method, const std::string& place) {
    for (std::size_t i = 0; i < method.names.size(); ++i) {
        if (method.names[i] == place.substr(0, place.find_first_of(".[")))
            return takes_reference(method.types[i]);
    }
    return true;  // it is returned
}

/// "0", "kf::item::inout(1)", "kf::item::none".
std::string item_text(const CppMethod& method, const CppItem& item) {
    if (item.how == How::none) return "kf::item::none";
    const auto at = std::find(method.places.begin(), method.places.end(), item.place);
    std::string number = std::to_string(at - method.places.begin());
    if (!item.is_value || item.how == How::made) return number;
    if (item.how == How::inout) return "kf::item::inout(" + number + ")";
    if (item.how == How::in && is_written_to(method, item.place)) return "kf::item::in(" + number + ")";
    return number;
}

/// Returns no text where each place stands for the item of its own number.
std::string items_text(const CppMethod& method) {
    std::vector<std::string> texts;
    bool in_order = method.items.size() == method.places.size();
    for (const CppItem& item : method.items) {
        in_order = in_order && item_text(method, item) == std::to_string(texts.size());
        texts.push_back(item_text(method, item));
    }
    return in_order ? "" : "kf::Items<" + join(texts) + ">";
}

/// Whether the signature alone says that a result mustn't be dropped: see kf::detail::is_kept.
bool looks_kept(const CppMethod& method) {
    return method.result != "void" && std::ranges::none_of(own_types(method), [](const std::string& type) {
               return takes_reference(type) || type.starts_with("const kf::Out<");
           });
}

CppOverload overload(const CppMethod& method, bool called, bool recorded) {
    CppOverload made;
    made.call = method.call;
    made.head = "kf::Overload<" + std::to_string(method.call) + ", " + method.result + "(";
    made.parameters = method.parameters();
    if (!called) made.parameters.erase(made.parameters.begin());
    std::vector<std::string> details;
    if (!recorded) details.emplace_back("kf::CallOnly");
    if (!called) details.emplace_back("kf::RecordOnly");
    const bool forward = method.part == CppPart::function || method.part == CppPart::jvp;
    if (forward && looks_kept(method) && !method.nodiscard) details.emplace_back("kf::InPlace");
    if (!method.shape.empty()) details.emplace_back("kf::Shaped");
    if (const std::string items = items_text(method); !items.empty()) details.push_back(items);
    made.tail = ")" + std::string(details.empty() ? "" : ", ") + join(details) + ">";
    return made;
}

/// Returns the member function without its last parameter.
CppMethod shortened(CppMethod method) {
    const std::string name = method.names.back();
    std::erase_if(method.places, [&](const std::string& place) { return place == name; });
    for (CppItem& item : method.items) {
        if (item.place == name) item = {};
    }
    method.types.pop_back();
    method.names.pop_back();
    --method.optional;
    return method;
}

}  // namespace

std::vector<CppOverload> cpp_overloads(const std::vector<CppMethod>& methods, CppPart part) {
    std::vector<CppOverload> overloads;
    std::set<std::string> seen;
    for (const CppMethod& method : methods) {
        if (method.part == part && method.kind == CppMethodKind::call) seen.insert(join(method.types));
    }
    for (const CppMethod& method : methods) {
        if (method.part != part) continue;
        const bool called = method.kind == CppMethodKind::call;
        const bool paired = std::ranges::any_of(methods, [&](const CppMethod& other) {
            return called ? records_the_same(method, other)
                          : other.kind == CppMethodKind::call && records_the_same(other, method);
        });
        if (!called && paired) continue;
        overloads.push_back(overload(method, called, !called || paired));
        CppMethod shorter = method;
        while (shorter.optional > 0) {
            shorter = shortened(std::move(shorter));
            // A shorter signature is left out where another overload has it.
            if (!called || seen.insert(join(shorter.types)).second)
                overloads.push_back(overload(shorter, called, !called || paired));
        }
    }
    return overloads;
}

}  // namespace kf::gen

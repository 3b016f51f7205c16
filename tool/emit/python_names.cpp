// What Python's callers name arguments by.
#include "emit/python_names.h"

#include <cstddef>

#include "core/items.h"
#include "emit/items.h"
#include "emit/names.h"

namespace kf::gen {

ArgumentNames argument_names(const PlannedCall& call) {
    UniqueNames names;
    ArgumentNames list;
    const std::vector<PlannedArgument> items = host_items(call);
    std::size_t at = 0;
    for (const PlannedParameter& parameter : call.parameters) {
        std::string name = parameter.host.name;
        if (parameter.tangent_of < 0)
            name = names.claim(parameter.role == manifest::Role::result ? "result" : python_identifier(name));
        list.parameters.push_back(name);
        for (const std::size_t end = at + manifest::item_count(parameter.host); at < end; ++at) {
            const std::string& path = items[at].host.name;
            list.items.push_back(name + path.substr(parameter.host.name.size()));
        }
    }
    return list;
}

}  // namespace kf::gen

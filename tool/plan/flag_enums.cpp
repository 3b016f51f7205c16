// Finds arguments' enums among those with [Flags].
#include "plan/flag_enums.h"

#include <algorithm>

#include "plan/types.h"

namespace kf::gen {

void note_flag_enums(std::vector<PlannedArgument>& arguments, const std::vector<std::string>& names) {
    for (PlannedArgument& argument : arguments) {
        const Type& inner = innermost_of(argument.type);
        argument.host.flags =
            !argument.host.members.empty() && std::ranges::find(names, enum_last_name(inner)) != names.end();
    }
}

}  // namespace kf::gen

// Stands between Slang and the function of its library that optimises SPIR-V.
#include "slang/exact_optimiser.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "process/opened_library.h"
#include "slang/glslang_library.h"
#include "slang/lexed_text.h"
#include "slang/library.h"
#include "slang/spirv_rewriter.h"

namespace kf::gen {

namespace {

using namespace spirv;

using OutputFunction = void (*)(const void* data, std::size_t size, void* user_data);

constexpr unsigned optimise_action = 2;

/// What all versions of glslang_CompileRequest begin with since 1.1.
struct OptimiserRequest {
    std::size_t size;
    const char* source_path;
    const char* input_begin;
    const char* input_end;
    OutputFunction write_message;
    void* message_data;
    OutputFunction write_output;
    void* output_data;
    int stage;
    unsigned action;
};

/// Goes with NoContraction where that is for the optimiser alone; Slang doesn't use it.
constexpr std::uint32_t marker = decoration_relaxed_precision;

/// Returns the floats that an instruction computes; 0 where it is no arithmetic.
std::uint32_t computed(const Words& words) {
    const std::uint32_t opcode = opcode_of(words);
    const bool computes = opcode == op_f_negate || opcode == op_f_add || opcode == op_f_sub ||
                          opcode == op_f_mul || opcode == op_f_div ||
                          (opcode >= op_product_first && opcode <= op_product_last);
    return computes && words.size() > 2 ? words[2] : 0;
}

bool is_decoration(const Words& words, std::uint32_t decoration) {
    return opcode_of(words) == op_decorate && words.size() == 3 && words[2] == decoration;
}

std::set<std::uint32_t> ids_with(std::uint32_t decoration, const std::vector<Words>& instructions) {
    std::set<std::uint32_t> ids;
    for (const Words& words : instructions) {
        if (is_decoration(words, decoration)) ids.insert(words[1]);
    }
    return ids;
}

/// Decorates arithmetic, in front of the types, but for what isn't to be contracted anyway.
std::string decorated(const std::string& code, const std::vector<std::uint32_t>& decorations) {
    SpirvRewriter rewriter(code);
    if (!rewriter.is_whole()) return code;
    const std::set<std::uint32_t> kept = ids_with(decoration_no_contraction, rewriter.instructions());
    bool is_marked = false;
    for (const Words& words : rewriter.instructions()) {
        if (!is_marked && declares_type(opcode_of(words))) {
            is_marked = true;
            for (const Words& one : rewriter.instructions()) {
                const std::uint32_t id = computed(one);
                if (id == 0 || kept.contains(id)) continue;
                for (const std::uint32_t decoration : decorations)
                    rewriter.put(op_decorate, {id, decoration});
            }
        }
        rewriter.put(words);
    }
    return rewriter.code();
}

/// Leaves out what optimise() has added, and what the optimiser has copied of it.
std::string unmarked(const std::string& code) {
    SpirvRewriter rewriter(code);
    if (!rewriter.is_whole()) return code;
    const std::set<std::uint32_t> ids = ids_with(marker, rewriter.instructions());
    for (const Words& words : rewriter.instructions()) {
        const bool is_mark = is_decoration(words, marker) || is_decoration(words, decoration_no_contraction);
        if (!is_mark || !ids.contains(words[1])) rewriter.put(words);
    }
    return rewriter.code();
}

void write(const void* data, std::size_t size, void* user_data) {
    static_cast<std::string*>(user_data)->append(static_cast<const char*>(data), size);
}

int optimise(OptimiserRequest& request, int (*optimiser)(OptimiserRequest*)) {
    const std::string given(request.input_begin, request.input_end);
    const std::string code = decorated(given, {marker, decoration_no_contraction});
    const OptimiserRequest before = request;
    std::string optimised;
    request.input_begin = code.data();
    request.input_end = code.data() + code.size();
    request.write_output = write;
    request.output_data = &optimised;
    const int result = optimiser(&request);
    request = before;
    if (optimised.empty() || request.write_output == nullptr) return result;
    optimised = unmarked(optimised);
    request.write_output(optimised.data(), optimised.size(), request.output_data);
    return result;
}

/// glslang_compile_1_1 and its successors.
template <char minor>
int compile_exactly(OptimiserRequest* request) {
    int (*compiler)(OptimiserRequest*) = nullptr;
    const std::string name = std::string("glslang_compile_1_") + minor;
    if (!find_function(open_glslang(slang_library_path()), name.c_str(), compiler)) return 1;
    return request->action == optimise_action ? optimise(*request, compiler) : compiler(request);
}

void* replaced(std::string_view name) {
    if (name == "glslang_compile_1_1") return reinterpret_cast<void*>(&compile_exactly<'1'>);
    if (name == "glslang_compile_1_2") return reinterpret_cast<void*>(&compile_exactly<'2'>);
    if (name == "glslang_compile_1_3") return reinterpret_cast<void*>(&compile_exactly<'3'>);
    return nullptr;
}

bool is_same(const SlangUUID& a, const SlangUUID& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Counts references, as Slang's objects do.
template <class Interface>
class Counted : public Interface {
public:
    virtual ~Counted() = default;
    SlangResult SLANG_MCALL queryInterface(const SlangUUID& id, void** out) override {
        if (!is_same(id, ISlangUnknown::getTypeGuid()) && !is_same(id, Interface::getTypeGuid()))
            return SLANG_E_NO_INTERFACE;
        addRef();
        *out = static_cast<Interface*>(this);
        return SLANG_OK;
    }
    std::uint32_t SLANG_MCALL addRef() override { return ++references_; }
    std::uint32_t SLANG_MCALL release() override {
        const std::uint32_t left = --references_;
        if (left == 0) delete this;
        return left;
    }

private:
    std::uint32_t references_ = 0;
};

/// Stays open, as Slang would keep it.
class Library final : public Counted<ISlangSharedLibrary> {
public:
    explicit Library(void* library) : library_(library) {}
    void* SLANG_MCALL castAs(const SlangUUID& id) override {
        return is_same(id, ISlangSharedLibrary::getTypeGuid()) ? this : nullptr;
    }
    void* SLANG_MCALL findSymbolAddressByName(const char* name) override {
        void* const found = ::dlsym(library_, name);
        void* const other = replaced(name);
        return found != nullptr && other != nullptr ? other : found;
    }

private:
    void* library_;
};

/// Finds what Slang's own loader does: libraries beside Slang's, and those of the system.
class Loader final : public Counted<ISlangSharedLibraryLoader> {
public:
    SlangResult SLANG_MCALL loadSharedLibrary(const char* path, ISlangSharedLibrary** out) override {
        const std::filesystem::path slang = slang_library_path();
        const std::string file = "lib" + std::string(path) + ".so";
        void* library = nullptr;
        if (std::string_view(path).starts_with("slang-glslang")) {
            library = open_glslang(slang);  // no other, which optimise() wouldn't find
        } else {
            library = ::dlopen((slang.parent_path() / file).c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library == nullptr) library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        if (library == nullptr) return SLANG_E_CANNOT_OPEN;
        *out = new Library(library);
        (*out)->addRef();
        return SLANG_OK;
    }
};

}  // namespace

std::string without_contraction(const std::string& code) {
    return decorated(code, {decoration_no_contraction});
}

bool names_precise(const std::map<std::filesystem::path, std::string>& texts) {
    constexpr std::string_view word = "precise";
    return std::any_of(texts.begin(), texts.end(), [&](const auto& file) {
        if (file.second.find(word) == std::string::npos) return false;
        const LexedText text(file.second);
        std::size_t at = 0;
        while (at < text.size() && text[at] != word) ++at;
        return at < text.size();
    });
}

void keep_floats_exact(slang::IGlobalSession& global) { global.setSharedLibraryLoader(new Loader); }

}  // namespace kf::gen

// Finds libclang, and its functions in it.
#include "libclang/library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

template <class F>
bool find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
}

bool find_all(void* library, LibClang& f) {
    return find(library, "clang_createIndex", f.create_index) &&
           find(library, "clang_disposeIndex", f.dispose_index) &&
           find(library, "clang_parseTranslationUnit2", f.parse) &&
           find(library, "clang_disposeTranslationUnit", f.dispose_unit) &&
           find(library, "clang_getTranslationUnitCursor", f.unit_cursor) &&
           find(library, "clang_getInclusions", f.inclusions) &&
           find(library, "clang_getFileName", f.file_name) &&
           find(library, "clang_getLocationForOffset", f.location_at) &&
           find(library, "clang_Location_isInSystemHeader", f.is_system) &&
           find(library, "clang_getNumDiagnostics", f.diagnostic_count) &&
           find(library, "clang_getDiagnostic", f.diagnostic) &&
           find(library, "clang_disposeDiagnostic", f.dispose_diagnostic) &&
           find(library, "clang_getDiagnosticSeverity", f.severity) &&
           find(library, "clang_getDiagnosticLocation", f.diagnostic_location) &&
           find(library, "clang_getDiagnosticSpelling", f.diagnostic_text) &&
           find(library, "clang_getChildDiagnostics", f.diagnostic_children) &&
           find(library, "clang_getNumDiagnosticsInSet", f.count_in_set) &&
           find(library, "clang_getDiagnosticInSet", f.diagnostic_in_set) &&
           find(library, "clang_getFileLocation", f.file_location) &&
           find(library, "clang_getCString", f.c_string) &&
           find(library, "clang_disposeString", f.dispose_string) &&
           find(library, "clang_visitChildren", f.visit_children) &&
           find(library, "clang_getCursorKind", f.cursor_kind) &&
           find(library, "clang_getCursorSpelling", f.cursor_spelling) &&
           find(library, "clang_getCursorLocation", f.cursor_location) &&
           find(library, "clang_getCursorType", f.cursor_type) &&
           find(library, "clang_getTypedefDeclUnderlyingType", f.underlying_type) &&
           find(library, "clang_getEnumConstantDeclValue", f.constant_value) &&
           find(library, "clang_getEnumDeclIntegerType", f.enum_integer) &&
           find(library, "clang_getCanonicalType", f.canonical_type) &&
           find(library, "clang_getTypeSpelling", f.type_spelling) &&
           find(library, "clang_getTypeDeclaration", f.type_declaration) &&
           find(library, "clang_Type_getSizeOf", f.size_of) &&
           find(library, "clang_Type_getAlignOf", f.align_of) &&
           find(library, "clang_Type_visitFields", f.visit_fields) &&
           find(library, "clang_getElementType", f.element_type) &&
           find(library, "clang_getNumElements", f.element_count) &&
           find(library, "clang_Cursor_getOffsetOfField", f.field_offset) &&
           find(library, "clang_Cursor_isBitField", f.is_bit_field) &&
           find(library, "clang_Cursor_isAnonymous", f.is_anonymous) &&
           find(library, "clang_Cursor_isAnonymousRecordDecl", f.is_anonymous_record) &&
           find(library, "clang_getCXXAccessSpecifier", f.access) &&
           find(library, "clang_isVirtualBase", f.is_virtual_base) &&
           find(library, "clang_getSpecializedCursorTemplate", f.template_of);
}

/// The newest first: from distributions, from LLVM's own folders, and by the name without a version.
std::vector<std::string> candidates(const fs::path& site_packages) {
    const char* stated = std::getenv("KFGEN_LIBCLANG");
    if (stated != nullptr && *stated != '\0') return {stated};
    constexpr int oldest = 14;
    constexpr int newest = 24;
    std::vector<std::string> names;
    for (int version = newest; version >= oldest; --version) {
        const std::string number = std::to_string(version);
        names.push_back("/usr/lib/llvm-" + number + "/lib/libclang.so.1");
        names.push_back("libclang-" + number + ".so.1");
        names.push_back("libclang.so." + number);
    }
    names.insert(names.end(), {"libclang.so.13", "libclang.so.1", "libclang.so"});
    if (!site_packages.empty()) names.push_back((site_packages / "clang/native/libclang.so").string());
    return names;
}

}  // namespace

Outcome<std::shared_ptr<const LibClang>> load_libclang(const fs::path& site_packages) {
    for (const std::string& name : candidates(site_packages)) {
        void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) continue;
        auto functions = std::make_shared<LibClang>();
        if (!find_all(library, *functions)) continue;
        Dl_info info{};
        std::error_code failed;
        if (dladdr(reinterpret_cast<const void*>(functions->create_index), &info) != 0 &&
            info.dli_fname != nullptr)
            functions->file = fs::canonical(info.dli_fname, failed);
        return std::shared_ptr<const LibClang>(std::move(functions));
    }
    return Diagnostic{
        Severity::error,
        "libclang-missing",
        {},
        "\"structs\" need libclang (libclang.so of LLVM 14 or newer), which was not found",
        {"install libclang-dev, or `pip install libclang` beside the slangpy wheel, or set KFGEN_LIBCLANG "
         "to the library's path"}};
}

}  // namespace kf::gen

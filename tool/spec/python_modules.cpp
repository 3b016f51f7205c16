// Which names of Python modules and packages are taken.
#include "spec/python_modules.h"

#include <algorithm>
#include <array>

#include "core/python_names.h"
#include "spec/names.h"

namespace kf::gen {

namespace {

/// The top-level modules of Python 3.10 to 3.14, but for those with a leading _, with a space on either side.
constexpr std::string_view standard_modules =
    " abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop"
    " base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code"
    " codecs codeop collections colorsys compileall compression concurrent configparser contextlib"
    " contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis"
    " distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput"
    " fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip"
    " hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools"
    " json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap"
    " modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode"
    " operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib"
    " poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat"
    " queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select"
    " selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3"
    " sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess"
    " sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this"
    " threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle"
    " turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref"
    " webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";

/// The package kernelfunctions, and those that it imports.
constexpr std::array<std::string_view, 3> needed_packages{"kernelfunctions", "numpy", "torch"};

/// Returns what a top-level module of the name would hide; nothing where no other module is known to have it.
std::optional<std::string> hidden_module(std::string_view name) {
    const std::string quoted = "'" + std::string(name) + "'";
    if (standard_modules.find(" " + std::string(name) + " ") != std::string_view::npos)
        return "Python's own module " + quoted;
    if (std::ranges::find(needed_packages, name) != needed_packages.end())
        return "the package " + quoted + ", which generated modules need";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> package_name_error(std::string_view package) {
    for (std::string_view rest = package;;) {
        const std::size_t dot = rest.find('.');
        const std::string_view name = rest.substr(0, dot);
        if (!is_identifier(name) || std::ranges::binary_search(detail::python_keywords, name)) {
            return "Python can't import '" + std::string(name) +
                   "': a package's name has letters, digits and _, doesn't begin with a digit and is no "
                   "keyword";
        }
        if (dot == std::string_view::npos) break;
        rest.remove_prefix(dot + 1);
    }
    if (const auto hidden = hidden_module(package.substr(0, package.find('.'))))
        return "it would hide " + *hidden + ", or be hidden by it; give it another name";
    return std::nullopt;
}

Diagnostics check_module_name(const Spec& spec) {
    const std::optional<std::string> hidden = hidden_module(spec.name);
    if (!hidden) return {};
    return {{Severity::error,
             "spec-name",
             spec.name_location,
             spec.name + ".py would hide " + *hidden + " from every program that finds it first",
             {"set \"name\" to another word, or name the package that " + spec.name +
              ".py will be part of: --python-package PACKAGE"}}};
}

}  // namespace kf::gen

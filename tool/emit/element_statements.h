// How a kernel reads and stores one argument's element, for one call or a run of calls.
#pragma once

#include <cstdint>
#include <string>

#include "emit/argument_text.h"
#include "emit/body.h"
#include "emit/kinds/questions.h"
#include "emit/row_text.h"

namespace kf::gen {

/// The part of an argument that is read: its element, or the gradient that flows in.
enum class Source : std::uint8_t { data, gradient };

// Each adds to the body what has to be done before, and returns an expression.

/// The element as the function takes it; not of a matrix or an array.
std::string load(Body& body, const ArgumentText& argument, Source source);
/// Declares a local that holds the element and returns its name. `qualifier`: "const ", or nothing.
std::string add_loaded(Body& body, const ArgumentText& argument, const std::string& qualifier,
                       const std::string& name, Source source);
/// A statement that gives the element to `place`, which is a field of a struct.
std::string fill_field(Body& body, const ArgumentText& argument, const std::string& place, Source source);
/// Stores what `local` holds after the call.
void add_store(Body& body, const ArgumentText& argument, const std::string& local);

/// Returns how the kernel uses an argument whose values it makes, for the questions to its kind.
MadeUse made_use(const ArgumentText& argument);

// Functions that gradients need, too.

/// Whether the body moves the argument four calls at a time: in a run of calls that lie in fours.
bool moves_quads(const Body& body, const ArgumentText& argument);
/// Declares what holds a run's elements in fours.
void keep_quads(Body& body, const ArgumentText& argument, const std::string& name);
/// An argument's elements along the row that starts at `row`.
RowText row_text(Body& body, const ArgumentText& argument, const std::string& scalar, const std::string& row);

}  // namespace kf::gen

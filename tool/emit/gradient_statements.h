// How a kernel adds up the gradients that flow out of one argument, and outputs that calls are combined in.
#pragma once

#include <string>

#include "emit/argument_text.h"
#include "emit/body.h"

namespace kf::gen {

/// Adds the gradient that the call leaves in `gradient`.
void add_gradient(Body& body, const ArgumentText& argument, const std::string& gradient);

/// Has the last group round the sums that lie beside the gradient, in their dense order: it finds each
/// scalar's place in the gradient by `dimensions`, from the last one on. `by_dimension`: it is another place.
void add_scratch_walk(Body& body, const ArgumentText& argument, const View::List& dimensions,
                      bool by_dimension);
/// The dimensions that calls have, of a gradient by strides.
void add_call_dimensions(View::List& dimensions, const ArgumentText& argument);

}  // namespace kf::gen

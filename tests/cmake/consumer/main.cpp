// Prints the number that the generated library returns.
#include <cstdio>

#include "numbers.h"

int main() { std::printf("%d\n", numbers::value()); }

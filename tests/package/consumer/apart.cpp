// Prints 1 + 2, by the kernels of a library that is in another folder. Leaves the folder that it started in.
#include <unistd.h>

#include <exception>
#include <iostream>

extern "C" float shifted(float value);

int main() {
    try {
        if (chdir("/") != 0) return 1;
        std::cout << shifted(1.0F);
    } catch (const std::exception& error) {
        std::cout << error.what();
        return 1;
    }
}

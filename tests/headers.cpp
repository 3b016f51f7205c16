// Exists so that the headers of all tests are compiled once: see CMakeLists.txt.
int main() { return 0; }

#include "app/command.h"

int main(int argc, char** argv) { return kheya::RunCli(argc, argv); }

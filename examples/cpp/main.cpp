// Classifies one row with a model of three inputs: kheya_example_cpp MODEL [X Y Z]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <kheya/kheya.hpp>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2 && argc != 5) {
    std::fprintf(stderr, "usage: %s MODEL [X Y Z]\n", argv[0]);
    return 2;
  }
  std::vector<float> row = {1.0f, 2.0f, 3.0f};
  for (int i = 2; i < argc; ++i) row[i - 2] = static_cast<float>(std::atof(argv[i]));
  try {
    kheya::Model model(argv[1]);
    kheya::Session session(model);
    session.SetInput<float>(0, {1, 3}, row);
    session.Invoke();
    std::printf("%s:", model.outputs()[0].name.c_str());
    for (float value : session.Output<float>(0)) std::printf(" %.6f", value);
    std::printf("\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

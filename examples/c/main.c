/* Classifies one row with a model of three inputs: kheya_example_c MODEL [X Y Z] */
#include <kheya/kheya.h>
#include <stdio.h>
#include <stdlib.h>

static int Fail(const char* step) {
  fprintf(stderr, "%s: %s\n", step, kheya_error_message());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 5) {
    fprintf(stderr, "usage: %s MODEL [X Y Z]\n", argv[0]);
    return 2;
  }
  float row[3] = {1.0f, 2.0f, 3.0f};
  for (int i = 2; i < argc; ++i) row[i - 2] = (float)atof(argv[i]);

  kheya_model* model = NULL;
  if (kheya_model_load(argv[1], NULL, &model)) return Fail("load");
  kheya_session* session = NULL;
  if (kheya_session_create(model, &session)) return Fail("session");

  const int64_t dims[2] = {1, 3};
  kheya_tensor input = {sizeof(input), NULL, KHEYA_FLOAT32, 2, dims, row, sizeof(row)};
  if (kheya_session_set_input(session, 0, &input)) return Fail("set input");
  if (kheya_session_invoke(session)) return Fail("invoke");
  kheya_tensor output = {sizeof(output), NULL, 0, 0, NULL, NULL, 0};
  if (kheya_session_get_output(session, 0, &output)) return Fail("get output");

  const float* values = (const float*)output.data;
  printf("%s:", output.name);
  for (size_t i = 0; i < output.data_bytes / sizeof(float); ++i) printf(" %.6f", values[i]);
  printf("\n");
  kheya_session_destroy(session);
  kheya_model_destroy(model);
  return 0;
}

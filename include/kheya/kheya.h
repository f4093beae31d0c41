/* Kheya's C API: load a model, set its inputs, invoke it, get its outputs.
 *
 *   kheya_model* model = NULL;
 *   kheya_session* session = NULL;
 *   float x[3] = {1, 2, 3};
 *   int64_t dims[2] = {1, 3};
 *   kheya_tensor in = {sizeof(in), NULL, KHEYA_FLOAT32, 2, dims, x, sizeof(x)};
 *   kheya_tensor out = {sizeof(out)};
 *   if (kheya_model_load("mlp.onnx", NULL, &model) || kheya_session_create(model, &session) ||
 *       kheya_session_set_input(session, 0, &in) || kheya_session_invoke(session) ||
 *       kheya_session_get_output(session, 0, &out))
 *     fprintf(stderr, "%s\n", kheya_error_message());
 *   kheya_session_destroy(session);
 *   kheya_model_destroy(model);
 *
 * ABI: handles are opaque, structs begin with their size (set it: fields that a newer library adds
 * behind are then left alone), functions are only ever added within one KHEYA_ABI_VERSION.
 * Errors: every function that can fail returns a code, 0 for success; kheya_error_message() then
 * tells what was found and what was expected, for the calling thread's last failure.
 * Threads: a model may be used by many threads at once, a session by one at a time.
 */
#ifndef KHEYA_KHEYA_H_
#define KHEYA_KHEYA_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KHEYA_API __attribute__((visibility("default")))
#else
#define KHEYA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KHEYA_ABI_VERSION 1

/* Codes are those of gRPC: 0 OK, 3 INVALID_ARGUMENT, 5 NOT_FOUND, 12 UNIMPLEMENTED, ... */
typedef int32_t kheya_code;

/* Element types, numbered as in ONNX. */
typedef enum kheya_dtype {
  KHEYA_FLOAT32 = 1,
  KHEYA_UINT8 = 2,
  KHEYA_INT8 = 3,
  KHEYA_UINT16 = 4,
  KHEYA_INT16 = 5,
  KHEYA_INT32 = 6,
  KHEYA_INT64 = 7,
  KHEYA_BOOL = 9,
  KHEYA_FLOAT16 = 10,
  KHEYA_FLOAT64 = 11,
  KHEYA_UINT32 = 12,
  KHEYA_UINT64 = 13,
  KHEYA_BFLOAT16 = 16
} kheya_dtype;

/* A dense row-major tensor, or what is known of one before a run. */
typedef struct kheya_tensor {
  size_t struct_size;  /* sizeof(kheya_tensor) */
  const char* name;    /* not needed when setting an input */
  int32_t dtype;       /* a kheya_dtype */
  int32_t rank;        /* -1: not known before a run */
  const int64_t* dims; /* -1: not known before a run */
  const void* data;    /* NULL before a run */
  size_t data_bytes;
} kheya_tensor;

typedef struct kheya_options {
  size_t struct_size;    /* sizeof(kheya_options) */
  const char* device;    /* NULL: "auto" */
  int32_t threads;       /* CPUs a run may use; 0: all that this process may */
  const char* precision; /* NULL: "fp32"; "bf16", "auto": bfloat16 where the processor has it */
  double tolerance;      /* relative L2 error over which a layer stays float32; 0: the default */
} kheya_options;

typedef struct kheya_model kheya_model;
typedef struct kheya_session kheya_session;

/* KHEYA_ABI_VERSION of the library that is running. */
KHEYA_API int32_t kheya_abi_version(void);
/* "0.1.0". */
KHEYA_API const char* kheya_version(void);
/* Of the calling thread's last failure; valid until its next call that fails. */
KHEYA_API const char* kheya_error_message(void);
/* "INVALID_ARGUMENT" for 3, and so on. */
KHEYA_API const char* kheya_code_name(kheya_code code);

/* Reads, optimizes and compiles a model file. `options` may be NULL. */
KHEYA_API kheya_code kheya_model_load(const char* path, const kheya_options* options,
                                      kheya_model** model);
/* Sessions keep what they need of the model: it may be destroyed before them. NULL is allowed. */
KHEYA_API void kheya_model_destroy(kheya_model* model);
KHEYA_API int32_t kheya_model_input_count(const kheya_model* model);
KHEYA_API int32_t kheya_model_output_count(const kheya_model* model);
/* Name, type and dims; the pointers live as long as the model. */
KHEYA_API kheya_code kheya_model_input(const kheya_model* model, int32_t index, kheya_tensor* info);
KHEYA_API kheya_code kheya_model_output(const kheya_model* model, int32_t index,
                                        kheya_tensor* info);
/* The value of a metadata key ("kheya.spec"), or NULL. Lives as long as the model. */
KHEYA_API const char* kheya_model_metadata(const kheya_model* model, const char* key);

KHEYA_API kheya_code kheya_session_create(const kheya_model* model, kheya_session** session);
KHEYA_API void kheya_session_destroy(kheya_session* session);
/* Copies the tensor. */
KHEYA_API kheya_code kheya_session_set_input(kheya_session* session, int32_t index,
                                             const kheya_tensor* tensor);
/* Runs the model on the inputs set so far; all must be set. They stay set for the next run. */
KHEYA_API kheya_code kheya_session_invoke(kheya_session* session);
/* Points into the session's memory, valid until its next invoke or its end. */
KHEYA_API kheya_code kheya_session_get_output(const kheya_session* session, int32_t index,
                                              kheya_tensor* tensor);

#ifdef __cplusplus
}
#endif

#endif /* KHEYA_KHEYA_H_ */

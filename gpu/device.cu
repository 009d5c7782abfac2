// The GPU: its properties, the buffer, launches.

#include "device.h"
#include "kernels.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Cycles between two accesses of a launch, so that the units are done with one before the next comes.
#define PAUSE_CYCLES 600

// Shared memory of a small L1, which no launch asks for: GPUs divide in few ways, and on all since compute capability 7.5 this
// is another one than that with the largest L1. On an H200 L1 has 92 KB then.
#define SMALL_L1_SHARED_PERCENT 60

// Words of local memory that a lane's widest access has: each lies in a line of its own.
#define LOCAL_WORDS 4

// What addresses are moved by (PLAN_PAGE_BYTES).
#define PAGE_BYTES (UINT64_C(1) << 21)

struct gpu {
    struct gpu_info info;
    char *memory;
    int64_t *cycles;                         // on the GPU
    struct gpu_parameters *parameters;
    unsigned char is_ready[GPU_INSTRUCTIONS]; // by instruction: its kernel has been prepared
    int is_small; // the last launch without shared memory had an L1 smaller than it could have
};

static int fail(cudaError_t error, const char *what, char *message)
{
    if (error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress || error == cudaErrorLaunchFailure ||
        error == cudaErrorAssert || error == cudaErrorIllegalInstruction)
        snprintf(message, GPU_MESSAGE_SIZE, "a launch failed on the GPU: %s", cudaGetErrorString(error));
    else
        snprintf(message, GPU_MESSAGE_SIZE, "%s: %s", what, cudaGetErrorString(error));
    return -1;
}

static int find_device(int device, int *devices, char *message)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    int driver = 0;

    *devices = count;
    cudaDriverGetVersion(&driver);
    if (error == cudaErrorInsufficientDriver && driver)
        snprintf(message, GPU_MESSAGE_SIZE,
                 "the NVIDIA driver is too old: it has CUDA %d.%d, this program needs %d.%d", driver / 1000,
                 driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice || (!error && count == 0))
        snprintf(message, GPU_MESSAGE_SIZE, "this machine has no NVIDIA GPU, or no driver for it");
    else if (error)
        return fail(error, "the GPU cannot be used", message);
    else if (device >= count)
        snprintf(message, GPU_MESSAGE_SIZE, "there is no GPU number %d: this machine has %d, from number 0", device, count);
    else
        return 0;
    return -1;
}

// The driver's version, from where its kernel module tells it.
static void read_driver(char *text, size_t size)
{
    FILE *file = fopen("/sys/module/nvidia/version", "r");

    text[0] = '\0';
    if (!file)
        return;
    if (fgets(text, (int)size, file))
        text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

static int read_info(int device, struct gpu_info *info, char *message)
{
    struct cudaDeviceProp properties;
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaSetDevice(device);

    if (!error)
        error = cudaFree(NULL);
    if (!error)
        error = cudaGetDeviceProperties(&properties, device);
    if (error)
        return fail(error, "the GPU cannot be used", message);
    error = cudaFuncGetAttributes(&attributes, kernels[0].function);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidDeviceFunction) {
        snprintf(message, GPU_MESSAGE_SIZE,
                 "warpmem-replay was not built for this GPU (compute capability %d.%d): build it with NVCCFLAGS=-arch=sm_%d%d",
                 properties.major, properties.minor, properties.major, properties.minor);
        return -1;
    }
    if (error)
        return fail(error, "the kernels cannot be loaded", message);
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    cudaDriverGetVersion(&info->driver);
    cudaRuntimeGetVersion(&info->runtime);
    read_driver(info->driver_text, sizeof info->driver_text);
    info->shared_bytes = (uint32_t)properties.sharedMemPerBlockOptin;
    info->local_bytes = KERNEL_LOCAL_BYTES;
    info->const_bytes = KERNEL_CONST_BYTES;
    return 0;
}

// A buffer. One of a power of two begins at a multiple of its size, so that offsets in it have the low bits of addresses:
// that takes twice the memory. Where there is not so much, and for other sizes, it begins at a page.
static int take_buffer(struct gpu *gpu, uint64_t bytes, char *message)
{
    size_t available = 0, total = 0;
    cudaError_t error = cudaMemGetInfo(&available, &total);
    const int is_asked_for = bytes != 0;
    uint64_t alignment;

    if (error)
        return fail(error, "the GPU's memory cannot be asked for", message);
    if (!bytes)
        bytes = UINT64_C(4) << 30;
    while (!is_asked_for && bytes > (UINT64_C(1) << 28) && 2 * bytes > available / 2)
        bytes /= 2;
    alignment = bytes & (bytes - 1) || 2 * bytes > available ? PAGE_BYTES : bytes;
    error = cudaMalloc(&gpu->memory, bytes + alignment);
    if (!error)
        error = cudaMalloc(&gpu->cycles, 64 * sizeof *gpu->cycles);
    if (error) {
        snprintf(message, GPU_MESSAGE_SIZE, "a buffer of %llu MiB does not fit in the GPU's memory: %zu MiB are free",
                 (unsigned long long)(bytes >> 20), available >> 20);
        return -1;
    }
    gpu->info.buffer = ((uint64_t)gpu->memory + alignment - 1) & ~(alignment - 1);
    gpu->info.buffer_bytes = bytes;
    error = cudaMemset((void *)gpu->info.buffer, 0, bytes);
    if (!error)
        error = cudaDeviceSynchronize();
    return error ? fail(error, "the buffer cannot be cleared", message) : 0;
}

int gpu_open(int device, uint64_t buffer_bytes, struct gpu **out, char message[GPU_MESSAGE_SIZE])
{
    struct gpu *gpu = (struct gpu *)calloc(1, sizeof *gpu);

    if (gpu)
        gpu->parameters = (struct gpu_parameters *)calloc(1, sizeof *gpu->parameters);
    if (!gpu || !gpu->parameters) {
        snprintf(message, GPU_MESSAGE_SIZE, "out of memory");
    } else if (find_device(device, &gpu->info.devices, message) == 0 && read_info(device, &gpu->info, message) == 0 &&
               take_buffer(gpu, buffer_bytes, message) == 0) {
        gpu->parameters->buffer = gpu->info.buffer;
        gpu->parameters->cycles = gpu->cycles;
        *out = gpu;
        return 0;
    }
    gpu_close(gpu);
    return -1;
}

const struct gpu_info *gpu_info(const struct gpu *gpu)
{
    return &gpu->info;
}

void gpu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    cudaFree(gpu->memory);
    cudaFree(gpu->cycles);
    free(gpu->parameters);
    free(gpu);
}

static int has(const struct gpu *gpu, size_t n)
{
    return kernels[n].since <= 10 * gpu->info.major + gpu->info.minor;
}

const char *gpu_instruction(const struct gpu *gpu, size_t n)
{
    for (size_t i = 1; kernels[i].name; i++) {
        if (has(gpu, i) && *kernels[i].name && n-- == 0)
            return kernels[i].name;
    }
    return NULL;
}

int gpu_find(const struct gpu *gpu, const char *name)
{
    for (size_t i = 0; kernels[i].name && i < GPU_INSTRUCTIONS; i++) {
        if (has(gpu, i) && strcmp(kernels[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

int gpu_warmer(const struct gpu *gpu, int instruction)
{
    enum kernel_space space = kernels[instruction].space;

    (void)gpu;
    if (space == KERNEL_IN_generic)
        space = KERNEL_IN_global;
    if (space != KERNEL_IN_global && space != KERNEL_IN_local && space != KERNEL_IN_copy)
        return -1;
    for (size_t i = 1; kernels[i].name; i++) {
        if (!*kernels[i].name && kernels[i].space == space)
            return (int)i;
    }
    return -1;
}

const char *gpu_instruction_name(int instruction)
{
    return kernels[instruction].name;
}

// The widest access has 16 bytes and is aligned, as all limits are.
void gpu_bounds(const struct gpu *gpu, int instruction, uint64_t *limit, uint64_t *shared)
{
    *shared = 0;
    switch (kernels[instruction].space) {
    case KERNEL_IN_nothing: *limit = 1; break;
    case KERNEL_IN_shared: *limit = gpu->info.shared_bytes; break;
    case KERNEL_IN_local: *limit = gpu->info.local_bytes; break;
    case KERNEL_IN_const: *limit = gpu->info.const_bytes; break;
    case KERNEL_IN_copy:
        *limit = gpu->info.buffer_bytes;
        *shared = gpu->info.shared_bytes;
        break;
    default: *limit = gpu->info.buffer_bytes; break;
    }
}

// A launch is to find L1 empty. Lines of the launch before are still there, though no load hits those of global memory: a long
// store takes longer over them. L1 is emptied when it is divided another way between lines and shared memory, so each launch
// gets another division than the one before.
static cudaError_t empty_l1(struct gpu *gpu, const void *kernel)
{
    gpu->is_small = !gpu->is_small;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                gpu->is_small ? SMALL_L1_SHARED_PERCENT : cudaSharedmemCarveoutMaxL1);
}

int gpu_launch(struct gpu *gpu, int instruction, const struct gpu_record *records, unsigned count, int is_warm,
               char message[GPU_MESSAGE_SIZE])
{
    const struct kernel *kernel = &kernels[instruction];
    const int has_shared = kernel->space == KERNEL_IN_shared || kernel->space == KERNEL_IN_copy;
    void *arguments[] = {gpu->parameters};
    cudaError_t error = cudaSuccess;

    if (!has_shared) {
        error = empty_l1(gpu, kernel->function);
    } else if (!gpu->is_ready[instruction]) {
        error = cudaFuncSetAttribute(kernel->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)gpu->info.shared_bytes);
        gpu->is_ready[instruction] = 1;
    }
    gpu->parameters->count = count;
    gpu->parameters->pause = PAUSE_CYCLES;
    gpu->parameters->warm = !is_warm ? 0 : kernel->space == KERNEL_IN_local ? LOCAL_WORDS : 1;
    memcpy(gpu->parameters->record, records, count * sizeof *records);
    if (!error)
        error = cudaLaunchKernel(kernel->function, dim3(1), dim3(32), arguments, has_shared ? gpu->info.shared_bytes : 0, 0);
    return error ? fail(error, "a launch could not be started", message) : 0;
}

int gpu_wait(struct gpu *gpu, char message[GPU_MESSAGE_SIZE])
{
    cudaError_t error = cudaDeviceSynchronize();

    (void)gpu;
    return error ? fail(error, "a launch failed", message) : 0;
}

int gpu_cycles(struct gpu *gpu, int instruction, const struct gpu_record *record, int is_miss, double *latency,
               double *throughput, char message[GPU_MESSAGE_SIZE])
{
    const enum kernel_space space = kernels[instruction].space;
    const int is_shared = space == KERNEL_IN_shared || space == KERNEL_IN_copy;
    const unsigned top_bit = (unsigned)__builtin_ctzll(gpu->info.buffer | gpu->info.buffer_bytes);

    gpu->parameters->record[0] = *record;
    return gpu_time(instruction, gpu->parameters, is_shared ? (int)gpu->info.shared_bytes : 0, top_bit, is_miss, latency,
                    throughput, message);
}

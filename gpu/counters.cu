// Hardware counters by CUPTI's range profiler: each launch is a range, and all launches are started once per pass. C++,
// because CUPTI's headers are.

#include "device.h"

#include <cuda_runtime.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// More passes than any set of counters takes: a profiler that never ends does not hang the program.
#define MOST_PASSES 1000

struct counters {
    CUpti_Profiler_Host_Object *host;
    CUpti_RangeProfiler_Object *profiler;
    char **names; // as CUPTI has them
    size_t count;
    size_t ranges;
    size_t passes;
    uint8_t *config;
    size_t config_size;
    uint8_t *data;
    size_t data_size;
    double *row;
};

static int failed(CUptiResult result, const char *what, char *message)
{
    const char *text = NULL;

    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        snprintf(message, GPU_MESSAGE_SIZE,
                 "the driver does not let this user read hardware counters (ERR_NVGPUCTRPERM): run as root, or have the "
                 "administrator load the driver with the option NVreg_RestrictProfilingToAdminUsers=0; in a container, "
                 "add the capability SYS_ADMIN");
        return -1;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        snprintf(message, GPU_MESSAGE_SIZE, "hardware counters cannot be read on this virtual GPU: its host must allow it");
        return -1;
    default:
        cuptiGetResultString(result, &text);
        snprintf(message, GPU_MESSAGE_SIZE, "hardware counters cannot be read: %s: %s", what, text ? text : "?");
        return -1;
    }
}

#define CALL(function, parameters)                                                                                     \
    do {                                                                                                               \
        CUptiResult result_ = function(parameters);                                                                    \
        if (result_ != CUPTI_SUCCESS)                                                                                  \
            return failed(result_, #function, message);                                                                \
    } while (0)

static int has_metric(CUpti_Profiler_Host_Object *host, const char *name, size_t length)
{
    CUpti_Profiler_Host_GetBaseMetrics_Params list = {CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE};

    list.pHostObject = host;
    list.metricType = CUPTI_METRIC_TYPE_COUNTER;
    if (cuptiProfilerHostGetBaseMetrics(&list) != CUPTI_SUCCESS)
        return 1; // not known: CUPTI says so when the metric is added
    for (size_t i = 0; i < list.numMetrics; i++) {
        if (strlen(list.ppMetricNames[i]) == length && memcmp(list.ppMetricNames[i], name, length) == 0)
            return 1;
    }
    return 0;
}

// Before Hopper, which has distributed shared memory besides, "..._mem_lgds" is "..._mem_lg".
static void rename_metrics(struct counters *counters)
{
    for (size_t i = 0; i < counters->count; i++) {
        char *dot = strrchr(counters->names[i], '.');
        const size_t length = (size_t)(dot - counters->names[i]);

        if (length > 5 && memcmp(dot - 5, "_lgds", 5) == 0 && !has_metric(counters->host, counters->names[i], length) &&
            has_metric(counters->host, counters->names[i], length - 2))
            memmove(dot - 2, dot, strlen(dot) + 1);
    }
}

static int configure(struct counters *counters, const char *chip, char *message)
{
    CUpti_Profiler_Host_Initialize_Params start = {CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    CUpti_Profiler_Host_GetConfigImage_Params image = {CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};

    start.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    start.pChipName = chip;
    CALL(cuptiProfilerHostInitialize, &start);
    counters->host = start.pHostObject;
    rename_metrics(counters);
    add.pHostObject = counters->host;
    add.ppMetricNames = (const char **)counters->names;
    add.numMetrics = counters->count;
    CALL(cuptiProfilerHostConfigAddMetrics, &add);
    size.pHostObject = counters->host;
    CALL(cuptiProfilerHostGetConfigImageSize, &size);
    counters->config_size = size.configImageSize;
    counters->config = (uint8_t *)malloc(size.configImageSize);
    if (!counters->config) {
        snprintf(message, GPU_MESSAGE_SIZE, "out of memory");
        return -1;
    }
    image.pHostObject = counters->host;
    image.pConfigImage = counters->config;
    image.configImageSize = counters->config_size;
    CALL(cuptiProfilerHostGetConfigImage, &image);
    passes.configImageSize = counters->config_size;
    passes.pConfigImage = counters->config;
    CALL(cuptiProfilerHostGetNumOfPasses, &passes);
    counters->passes = passes.numOfPasses;
    return 0;
}

// By the runtime, so that nothing has to be linked with the driver.
static CUcontext current_context()
{
    typedef CUresult (*function)(CUcontext *);
    cudaDriverEntryPointQueryResult found;
    void *entry = NULL;
    CUcontext context = NULL;

    if (cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess || ((function)entry)(&context) != CUDA_SUCCESS)
        return NULL;
    return context;
}

static int enable(struct counters *counters, char *message)
{
    CUpti_RangeProfiler_Enable_Params enabling = {CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
    CUcontext context = current_context();

    if (!context) {
        snprintf(message, GPU_MESSAGE_SIZE, "hardware counters cannot be read: there is no CUDA context");
        return -1;
    }
    enabling.ctx = context;
    CALL(cuptiRangeProfilerEnable, &enabling);
    counters->profiler = enabling.pRangeProfilerObject;
    size.pRangeProfilerObject = counters->profiler;
    size.pMetricNames = (const char **)counters->names;
    size.numMetrics = counters->count;
    size.maxNumOfRanges = counters->ranges;
    size.maxNumRangeTreeNodes = counters->ranges;
    CALL(cuptiRangeProfilerGetCounterDataSize, &size);
    counters->data_size = size.counterDataSize;
    counters->data = (uint8_t *)malloc(size.counterDataSize);
    if (!counters->data) {
        snprintf(message, GPU_MESSAGE_SIZE, "out of memory");
        return -1;
    }
    return 0;
}

static int open_all(int device, struct counters *counters, char *message)
{
    CUpti_Profiler_Initialize_Params initialize = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {CUpti_Device_GetChipName_Params_STRUCT_SIZE};

    CALL(cuptiProfilerInitialize, &initialize);
    chip.deviceIndex = (size_t)device;
    CALL(cuptiDeviceGetChipName, &chip);
    if (configure(counters, chip.pChipName, message) != 0)
        return -1;
    return enable(counters, message);
}

int counters_open(int device, const char *const *names, size_t count, size_t ranges, struct counters **out,
                  char message[GPU_MESSAGE_SIZE])
{
    struct counters *counters = (struct counters *)calloc(1, sizeof *counters);
    int is_complete = counters != NULL;

    if (counters) {
        counters->count = count;
        counters->ranges = ranges;
        counters->names = (char **)calloc(count, sizeof *counters->names);
        counters->row = (double *)calloc(count, sizeof *counters->row);
        is_complete = counters->names && counters->row;
    }
    for (size_t i = 0; is_complete && i < count; i++) {
        const size_t size = strlen(names[i]) + sizeof ".sum";

        counters->names[i] = (char *)malloc(size);
        if (counters->names[i])
            snprintf(counters->names[i], size, "%s%s", names[i], strchr(names[i], '.') ? "" : ".sum");
        else
            is_complete = 0;
    }
    if (!is_complete) {
        snprintf(message, GPU_MESSAGE_SIZE, "out of memory");
    } else if (open_all(device, counters, message) == 0) {
        *out = counters;
        return 0;
    }
    counters_close(counters);
    return -1;
}

size_t counters_passes(const struct counters *counters)
{
    return counters->passes;
}

// Starts all launches, pass by pass.
static int run_passes(struct counters *counters, int (*launch)(void *, size_t, char *), void *context, size_t n,
                      char *message)
{
    CUpti_RangeProfiler_Start_Params start = {CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_Stop_Params stop = {CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};

    start.pRangeProfilerObject = counters->profiler;
    stop.pRangeProfilerObject = counters->profiler;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        CALL(cuptiRangeProfilerStart, &start);
        for (size_t i = 0; i <= n; i++) {
            if (launch(context, i, message) != 0)
                return -1;
        }
        CALL(cuptiRangeProfilerStop, &stop);
        if (stop.isAllPassSubmitted)
            return 0;
    }
    snprintf(message, GPU_MESSAGE_SIZE, "hardware counters cannot be read: the profiler asks for pass after pass");
    return -1;
}

// The counters of all ranges, from what the passes left.
static int evaluate(struct counters *counters, size_t n, uint64_t *values, char *message)
{
    CUpti_RangeProfiler_DecodeData_Params decode = {CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};

    decode.pRangeProfilerObject = counters->profiler;
    CALL(cuptiRangeProfilerDecodeData, &decode);
    info.pCounterDataImage = counters->data;
    info.counterDataImageSize = counters->data_size;
    CALL(cuptiRangeProfilerGetCounterDataInfo, &info);
    if (info.numTotalRanges != n || decode.numOfRangeDropped) {
        snprintf(message, GPU_MESSAGE_SIZE, "hardware counters cannot be read: %zu launches were started, %zu came back",
                 n, info.numTotalRanges);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        CUpti_Profiler_Host_EvaluateToGpuValues_Params range = {
            CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};

        range.pHostObject = counters->host;
        range.pCounterDataImage = counters->data;
        range.counterDataImageSize = counters->data_size;
        range.rangeIndex = i;
        range.ppMetricNames = (const char **)counters->names;
        range.numMetrics = counters->count;
        range.pMetricValues = counters->row;
        CALL(cuptiProfilerHostEvaluateToGpuValues, &range);
        for (size_t c = 0; c < counters->count; c++) {
            if (!(counters->row[c] >= 0 && counters->row[c] < 1e15)) {
                snprintf(message, GPU_MESSAGE_SIZE, "the hardware counter %s is no number", counters->names[c]);
                return -1;
            }
            values[i * counters->count + c] = (uint64_t)(counters->row[c] + 0.5);
        }
    }
    return 0;
}

int counters_measure(struct counters *counters, int (*launch)(void *context, size_t n, char *message), void *context,
                     size_t n, uint64_t *values, char message[GPU_MESSAGE_SIZE])
{
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear = {
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_SetConfig_Params config = {CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};

    clear.pRangeProfilerObject = counters->profiler;
    clear.counterDataSize = counters->data_size;
    clear.pCounterData = counters->data;
    CALL(cuptiRangeProfilerCounterDataImageInitialize, &clear);
    config.pRangeProfilerObject = counters->profiler;
    config.configSize = counters->config_size;
    config.pConfig = counters->config;
    config.counterDataImageSize = counters->data_size;
    config.pCounterDataImage = counters->data;
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = counters->ranges;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    CALL(cuptiRangeProfilerSetConfig, &config);
    if (run_passes(counters, launch, context, n, message) != 0)
        return -1;
    return evaluate(counters, n, values, message);
}

void counters_close(struct counters *counters)
{
    CUpti_RangeProfiler_Disable_Params disable = {CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
    CUpti_Profiler_Host_Deinitialize_Params end = {CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};

    if (!counters)
        return;
    if (counters->profiler) {
        disable.pRangeProfilerObject = counters->profiler;
        cuptiRangeProfilerDisable(&disable);
    }
    if (counters->host) {
        end.pHostObject = counters->host;
        cuptiProfilerHostDeinitialize(&end);
    }
    for (size_t i = 0; counters->names && i < counters->count; i++)
        free(counters->names[i]);
    free(counters->names);
    free(counters->row);
    free(counters->config);
    free(counters->data);
    free(counters);
}

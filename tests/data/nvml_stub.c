/* A stand-in for NVIDIA's libnvidia-ml.so.1 with the functions that casefile-nvml calls. What it answers stands in
   cards.h, which a test writes from a recorded answer of nvidia-smi. Names, types and codes: NVML API reference. */
#include <stdio.h>
#include <string.h>
#include "cards.h"

enum { OK = 0, UNINITIALIZED = 1, NOT_SUPPORTED = 3, GPU_LOST = 15 };
#define CARD ((const struct card *)device)

static int put(char *to, unsigned room, const char *text) {
  snprintf(to, room, "%s", text);
  return OK;
}
int nvmlInitWithFlags(unsigned flags) { (void)flags; return START; }
int nvmlInit_v2(void) { return START; }
int nvmlShutdown(void) { return OK; }
int nvmlSystemGetDriverVersion(char *to, unsigned room) { return put(to, room, DRIVER); }
int nvmlSystemGetNVMLVersion(char *to, unsigned room) { return put(to, room, "12." DRIVER); }
int nvmlSystemGetCudaDriverVersion_v2(int *to) { *to = CUDA; return OK; }
int nvmlDeviceGetCount_v2(unsigned *to) { *to = sizeof cards / sizeof *cards; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void **to) { *to = &cards[index]; return OK; }
int nvmlDeviceGetName(const void *device, char *to, unsigned room) { return put(to, room, CARD->name); }
int nvmlDeviceGetUUID(const void *device, char *to, unsigned room) { return put(to, room, "GPU-stub"); }
int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *to) {
  (void)sensor;
  if (CARD->temperature < 0) return GPU_LOST;
  *to = CARD->temperature;
  return OK;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *to) {
  *to = CARD->slowdowns;
  return OK;
}
int nvmlDeviceGetPowerUsage(const void *device, unsigned *to) { (void)device; (void)to; return NOT_SUPPORTED; }

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
int nvmlDeviceGetPciInfo_v3(const void *device, struct pci *to) {
  memset(to, 0, sizeof *to);
  return put(to->bus_id, sizeof to->bus_id, CARD->bus_id);
}

good-version-2.traceg
MemcpyHtoD,0x00007f1000000000,4096
kernel-3.traceg

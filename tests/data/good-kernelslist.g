MemcpyHtoD,0x00007f1000000000,4096
good-version-5.traceg
good-version-2.traceg.xz

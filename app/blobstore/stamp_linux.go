package blobstore

import "syscall"

func changed(raw *syscall.Stat_t) int64 { return raw.Ctim.Nano() }

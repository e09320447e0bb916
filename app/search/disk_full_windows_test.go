package search_test

import "golang.org/x/sys/windows"

var errDiskFull error = windows.ERROR_DISK_QUOTA_EXCEEDED

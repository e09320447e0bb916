package indexer_test

import "golang.org/x/sys/windows"

var noRoom error = windows.ERROR_DISK_QUOTA_EXCEEDED

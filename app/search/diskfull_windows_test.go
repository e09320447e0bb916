package search_test

import "golang.org/x/sys/windows"

var errNoRoom error = windows.ERROR_DISK_QUOTA_EXCEEDED

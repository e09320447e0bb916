// Package blockdev provides block devices for tests: disks that fail writes on demand, and disks that record every
// write and flush, so that a test can rebuild their content after a power failure at any time.
//
// A disk is a FUSE file in memory under a loop device, so the kernel's file systems run on it. The package needs Linux
// and root; its files have the build tag root.
package blockdev

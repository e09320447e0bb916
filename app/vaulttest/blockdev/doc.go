// Package blockdev makes block devices for tests: disks that fail a write on demand,
// and disks that record every write and flush, so that a test can rebuild what they
// held at any moment of a power failure.
//
// A disk is a FUSE file in memory below a loop device, so the kernel's own file systems
// run on it. All of it needs Linux and root: the files have the build tag root.
package blockdev

//go:build root && linux

package blockdev

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is a block device in memory. It is removed when the test ends.
type Disk struct {
	base    string   // directory of its mounts
	kind    string   // type of its file system
	memory  *os.File // the content
	size    int64
	loop    *os.File
	mounted bool

	server *exec.Cmd // serves the FUSE file; nil: the loop device uses memory directly
	link   *os.File  // connection to the server

	mu        sync.Mutex
	fails     func(offset int64, data []byte) bool
	recording *Recording // nil: not recording
	writeErr  error      // error from writing to memory
}

// New returns a disk with the given size in bytes, filled with zeros.
func New(t testing.TB, size int64) *Disk {
	t.Helper()
	d := newDisk(t, size)
	if err := d.serve(); err != nil {
		t.Fatalf("serve a disk: %v", err)
	}
	file, err := os.OpenFile(filepath.Join(d.base, fuseFolder, fuseFile), os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("open the disk: %v", err)
	}
	// Use direct I/O, because the page cache would delay and merge writes.
	err = errors.Join(d.attach(file, unix.LO_FLAGS_DIRECT_IO), file.Close())
	if err != nil {
		t.Fatalf("attach the disk: %v", err)
	}
	return d
}

// Copy returns a new disk with the current content of d. The copy lacks data that the file system has not written yet,
// as after a power failure. It can't fail writes or record.
func (d *Disk) Copy(t testing.TB) *Disk {
	t.Helper()
	c := NewPlain(t, d.size)
	d.mu.Lock()
	defer d.mu.Unlock()
	c.kind = d.kind
	if err := copyData(c.memory, d.memory, d.size); err != nil {
		t.Fatalf("copy the disk: %v", err)
	}
	return c
}

// NewPlain returns a disk that can't fail writes or record. It is faster, because the loop device uses memory directly.
func NewPlain(t testing.TB, size int64) *Disk {
	t.Helper()
	d := newDisk(t, size)
	if err := d.attach(d.memory, 0); err != nil {
		t.Fatalf("attach the disk: %v", err)
	}
	return d
}

func newDisk(t testing.TB, size int64) *Disk {
	t.Helper()
	memory, err := newMemory(size)
	if err != nil {
		t.Fatalf("memory for a disk: %v", err)
	}
	d := &Disk{memory: memory, size: size}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Errorf("remove the disk: %v", err)
		}
	})
	if d.base, err = os.MkdirTemp("", "dk"); err != nil { // short, because the path of a socket is limited
		t.Fatalf("create the directory of a disk: %v", err)
	}
	for _, folder := range []string{fuseFolder, mountFolder} {
		if err := os.Mkdir(filepath.Join(d.base, folder), 0o700); err != nil {
			t.Fatalf("create a mount point: %v", err)
		}
	}
	return d
}

// close releases all resources in reverse order. It continues if an error occurs.
func (d *Disk) close() error {
	var all []error
	if d.mounted {
		all = append(all, d.unmount())
	}
	if d.loop != nil {
		all = append(all, unix.IoctlSetInt(int(d.loop.Fd()), unix.LOOP_CLR_FD, 0), d.loop.Close())
	}
	if d.server != nil {
		// Without the shutdown, the goroutine that reads would not end.
		all = append(all, unix.Shutdown(int(d.link.Fd()), unix.SHUT_RDWR), d.link.Close(), d.server.Wait())
		d.mu.Lock()
		all = append(all, d.writeErr)
		d.mu.Unlock()
	}
	all = append(all, d.memory.Close())
	if d.base != "" {
		all = append(all, os.RemoveAll(d.base))
	}
	return errors.Join(all...)
}

// Device returns the path of the block device.
func (d *Disk) Device() string { return d.loop.Name() }

// Mkfs creates a file system of type "ext4" or "xfs".
func (d *Disk) Mkfs(t testing.TB, kind string) {
	t.Helper()
	var args []string
	switch kind {
	case "ext4":
		args = []string{"-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}
	case "xfs":
		args = []string{"-q", "-f", "-K"}
	default:
		t.Fatalf("no such file system: %q", kind)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs."+kind, append(args, d.Device())...).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.%s: %v\n%s", kind, err, bytes.TrimSpace(out))
	}
	d.kind = kind
}

// Mount mounts the file system, which replays its journal, and returns the mount point.
func (d *Disk) Mount(t testing.TB) string {
	t.Helper()
	folder, err := d.TryMount()
	if err != nil {
		t.Fatalf("mount: %v", err)
	}
	return folder
}

// TryMount does the same as Mount, but returns an error. It is safe to call from any goroutine.
func (d *Disk) TryMount() (folder string, err error) {
	options := ""
	if d.kind == "xfs" {
		options = "nouuid" // copies have the same UUID
	}
	folder = filepath.Join(d.base, mountFolder)
	if err := unix.Mount(d.Device(), folder, d.kind, 0, options); err != nil {
		return "", fmt.Errorf("mount %s on %s: %w", d.kind, d.Device(), err)
	}
	d.mounted = true
	return folder, nil
}

// Unmount unmounts the file system. No process may be using it.
func (d *Disk) Unmount(t testing.TB) {
	t.Helper()
	if err := d.TryUnmount(); err != nil {
		t.Fatalf("unmount: %v", err)
	}
}

// TryUnmount does the same as Unmount, but returns an error. It is safe to call from any goroutine.
func (d *Disk) TryUnmount() error {
	d.mounted = false
	return d.unmount()
}

// unmount retries for a few seconds while a killed process exits.
func (d *Disk) unmount() error {
	folder := filepath.Join(d.base, mountFolder)
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Unmount(folder, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
			return errors.Join(fmt.Errorf("unmount %s: %w", folder, err), unix.Unmount(folder, unix.MNT_DETACH))
		}
	}
	// Drop the kernel's cached pages, which it keeps while the device is open.
	return unix.IoctlSetInt(int(d.loop.Fd()), unix.BLKFLSBUF, 0)
}

// FailWrites makes each write fail with EIO if fails returns true for it. If fails is nil, all writes succeed. fails
// receives the position on the disk and the data. It is never called concurrently. It must not use the disk or retain
// data.
func (d *Disk) FailWrites(fails func(offset int64, data []byte) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = fails
}

// CutPower makes the kernel shut down the mounted file system without writing cached data, as in a power failure. The
// file system must be mounted again afterward.
func (d *Disk) CutPower(t testing.TB) {
	t.Helper()
	folder, err := os.Open(filepath.Join(d.base, mountFolder))
	if err != nil {
		t.Fatalf("open the mount point: %v", err)
	}
	err = errors.Join(unix.IoctlSetPointerInt(int(folder.Fd()), shutdown, shutdownNoLogFlush), folder.Close())
	if err != nil {
		t.Fatalf("shut the file system down: %v", err)
	}
}

// Abort makes ext4 stop writing, as it does after an error of its journal. From then on, every change fails with EROFS.
func (d *Disk) Abort(t testing.TB) {
	t.Helper()
	if err := unix.Mount("", filepath.Join(d.base, mountFolder), "", unix.MS_REMOUNT, "abort"); err != nil {
		t.Fatalf("abort the file system: %v", err)
	}
}

// The ioctl and its argument are the same for ext4 (EXT4_IOC_SHUTDOWN) and XFS (XFS_IOC_GOINGDOWN).
const (
	shutdown           = 0x8004587d
	shutdownNoLogFlush = 2
)

// attach attaches file to a free loop device.
func (d *Disk) attach(file *os.File, flags uint32) error {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer control.Close() //nolint:errcheck // used only for an ioctl
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fmt.Errorf("get a free loop device: %w", err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		// The kernel detaches the device after its last user, even if this process is killed.
		config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: flags | unix.LO_FLAGS_AUTOCLEAR}}
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &config)
		if err == nil {
			d.loop = loop
			return nil
		}
		if err = errors.Join(err, loop.Close()); !errors.Is(err, unix.EBUSY) { // busy: another process took the device first
			return fmt.Errorf("configure %s: %w", loop.Name(), err)
		}
	}
}

func newMemory(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("disk", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "disk")
	if err := file.Truncate(size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// copyData copies size bytes from one file to another and preserves holes.
func copyData(to, from *os.File, size int64) error {
	if err := errors.Join(to.Truncate(0), to.Truncate(size)); err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	for at := int64(0); at < size; {
		begin, err := from.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // only holes follow
			return nil
		}
		if err != nil {
			return err
		}
		if at, err = from.Seek(begin, unix.SEEK_HOLE); err != nil {
			return err
		}
		for begin < at {
			n, err := from.ReadAt(buf[:min(int64(len(buf)), at-begin)], begin)
			if err != nil {
				return err
			}
			if _, err := to.WriteAt(buf[:n], begin); err != nil {
				return err
			}
			begin += int64(n)
		}
	}
	return nil
}

//go:build root && linux

package blockdev

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fuseFolder  = "fuse"
	fuseFile    = "disk"
	mountFolder = "m"
	serverEnv   = "DEEDKEEP_TEST_BLOCKDEV" // tells a test binary that it is the server, of the disk in this folder
	rootNode    = fuse.FUSE_ROOT_ID
	fileNode    = rootNode + 1
	maxRequest  = 1 << 20 // bytes of one request
)

// What the server tells, each with one byte for an answer: 0, or 1 for an I/O error.
const (
	opReady byte = iota
	opWrite
	opFlush
)

// headerSize is that of the kind, the offset, and the length of the data that follow.
const headerSize = 1 + 8 + 4

// The server is the test's own program, started once more: a page fault of the test
// process on a file of the disk, as bbolt's map has them, may wait for the server, and
// while it waits it keeps a Go processor, and the collector, from running.
func init() {
	base := os.Getenv(serverEnv)
	if base == "" {
		return
	}
	if err := serveFile(base, os.NewFile(3, "link"), os.NewFile(4, "memory")); err != nil {
		fmt.Fprintln(os.Stderr, "block device:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve starts the server of the disk's file, and waits for it.
func (d *Disk) serve() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	link, theirs := os.NewFile(uintptr(pair[0]), "link"), os.NewFile(uintptr(pair[1]), "link")
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), serverEnv+"="+d.base)
	server.ExtraFiles = []*os.File{theirs, d.memory}
	server.Stderr = os.Stderr
	server.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // an interrupt is for the test; the server ends after it
	if err := server.Start(); err != nil {
		return errors.Join(err, link.Close(), theirs.Close())
	}
	d.server, d.link = server, link
	if err := theirs.Close(); err != nil {
		return err
	}
	var ready [headerSize]byte
	if _, err := io.ReadFull(link, ready[:]); err != nil {
		return fmt.Errorf("it did not start: %w", err)
	}
	if _, err := link.Write([]byte{0}); err != nil {
		return err
	}
	go d.handleRequests()
	return nil
}

// handleRequests decides and does what the server is asked to, until the link ends.
func (d *Disk) handleRequests() {
	buf := make([]byte, headerSize+maxRequest)
	for {
		if _, err := io.ReadFull(d.link, buf[:headerSize]); err != nil {
			return // closed by us, or the server has said why
		}
		offset := int64(binary.LittleEndian.Uint64(buf[1:]))
		data := buf[headerSize:][:binary.LittleEndian.Uint32(buf[9:])]
		if _, err := io.ReadFull(d.link, data); err != nil {
			return
		}
		if _, err := d.link.Write([]byte{d.handle(buf[0], offset, data)}); err != nil {
			return
		}
	}
}

func (d *Disk) handle(what byte, offset int64, data []byte) (failed byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if what == opWrite {
		if d.fails != nil && d.fails(offset, data) {
			return 1
		}
		if _, err := d.memory.WriteAt(data, offset); err != nil {
			d.linkErr = err
			return 1
		}
	}
	if d.recording != nil {
		d.recording.add(what, offset, data)
	}
	return 0
}

// file is the one file of the server's file system.
type file struct {
	fuse.RawFileSystem
	memory *os.File
	size   uint64

	mu      sync.Mutex // one write or flush at a time: the link has their order
	link    *os.File
	results chan byte // closed with the link
}

// serveFile serves the file until the test closes the link, or is gone.
func serveFile(base string, link, memory *os.File) error {
	info, err := memory.Stat()
	if err != nil {
		return err
	}
	f := &file{RawFileSystem: fuse.NewDefaultRawFileSystem(), memory: memory, size: uint64(info.Size()), link: link, results: make(chan byte)}
	folder := filepath.Join(base, fuseFolder)
	server, err := fuse.NewServer(f, folder, &fuse.MountOptions{DirectMountStrict: true, FsName: "blockdev", MaxWrite: maxRequest, DisableXAttrs: true})
	if err != nil {
		return err
	}
	go server.Serve()
	err = server.WaitMount()
	if err == nil {
		err = f.ready()
	}
	// A test that was killed has left its mount.
	if gone := unix.Unmount(filepath.Join(base, mountFolder), unix.MNT_DETACH); !errors.Is(gone, unix.EINVAL) {
		err = errors.Join(err, gone)
	}
	err = errors.Join(err, unix.Unmount(folder, unix.MNT_DETACH))
	for _, left := range []string{folder, filepath.Join(base, mountFolder), base} {
		_ = os.Remove(left) // the test does so too
	}
	return err
}

// ready tells that the file is there, and passes the answers on until the last.
func (f *file) ready() error {
	defer close(f.results)
	if _, err := f.link.Write(make([]byte, headerSize)); err != nil {
		return err
	}
	one := make([]byte, 1)
	if _, err := io.ReadFull(f.link, one); err != nil {
		return err
	}
	for {
		if _, err := f.link.Read(one); err != nil {
			return nil // the test is over
		}
		f.results <- one[0]
	}
}

// send says what is to be done, and waits until it was. Once the test is gone all
// succeeds, so that its mount can go too.
func (f *file) send(what byte, offset uint64, data []byte) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	message := binary.LittleEndian.AppendUint64([]byte{what}, offset)
	message = binary.LittleEndian.AppendUint32(message, uint32(len(data)))
	if _, err := f.link.Write(append(message, data...)); err != nil {
		return fuse.OK
	}
	if <-f.results == 0 {
		return fuse.OK
	}
	return fuse.EIO
}

func (f *file) attr(node uint64, out *fuse.Attr) {
	out.Ino, out.Nlink, out.Mode = node, 1, fuse.S_IFDIR|0o700
	if node == fileNode {
		out.Mode, out.Size, out.Blocks, out.Blksize = fuse.S_IFREG|0o600, f.size, f.size/512, 4096
	}
}

// Lookup and the others are of fuse.RawFileSystem.
func (f *file) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if name != fuseFile {
		return fuse.ENOENT
	}
	out.NodeId = fileNode
	f.attr(fileNode, &out.Attr)
	return fuse.OK
}

func (f *file) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.attr(in.NodeId, &out.Attr)
	return fuse.OK
}

// SetAttr is called with the times of a write.
func (f *file) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.attr(in.NodeId, &out.Attr)
	return fuse.OK
}

func (f *file) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	return fuse.OK
}

func (f *file) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n, err := f.memory.ReadAt(buf, int64(in.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fuse.EIO
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (f *file) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	return uint32(len(data)), f.send(opWrite, in.Offset, data)
}

func (f *file) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return f.send(opFlush, 0, nil) }

func (f *file) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *file) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

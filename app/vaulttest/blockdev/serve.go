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
	serverEnv   = "DEEDKEEP_TEST_BLOCKDEV" // makes a test binary the server of the disk in this directory
	rootNode    = fuse.FUSE_ROOT_ID
	fileNode    = rootNode + 1
	maxRequest  = 1 << 20 // maximum bytes of a request
)

// These are the messages that the server sends. The test responds to each with one byte: 0 for success, or 1 for an I/O
// error.
const (
	opReady byte = iota
	opWrite
	opFlush
)

// headerSize is the size of a message header: operation, offset, and length of the data that follows.
const headerSize = 1 + 8 + 4

// init runs the server if the environment variable is set. The server must not run in the test process: a page fault
// there on a mapped file of the disk would wait for the server, and block a Go processor and the garbage collector.
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

// serve starts the server process of the FUSE file and waits until it is ready.
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
	server.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // an interrupt must reach only the test, which stops the server
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

// handleRequests handles the server's requests until the connection is closed.
func (d *Disk) handleRequests() {
	buf := make([]byte, headerSize+maxRequest)
	for {
		if _, err := io.ReadFull(d.link, buf[:headerSize]); err != nil {
			return // closed by close, or the server printed its error
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

func (d *Disk) handle(op byte, offset int64, data []byte) (failed byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if op == opWrite {
		if d.fails != nil && d.fails(offset, data) {
			return 1
		}
		if _, err := d.memory.WriteAt(data, offset); err != nil {
			d.writeErr = err
			return 1
		}
	}
	if d.recording != nil {
		d.recording.add(op, offset, data)
	}
	return 0
}

// file is the only file of the FUSE file system.
type file struct {
	fuse.RawFileSystem
	memory *os.File
	size   uint64

	mu      sync.Mutex // serializes writes and flushes on link
	link    *os.File
	results chan byte // closed when link ends
}

// serveFile serves the file until the test closes the connection or exits.
func serveFile(base string, link, memory *os.File) error {
	info, err := memory.Stat()
	if err != nil {
		return err
	}
	f := &file{RawFileSystem: fuse.NewDefaultRawFileSystem(), memory: memory, size: uint64(info.Size()), link: link, results: make(chan byte)}
	folder := filepath.Join(base, fuseFolder)
	server, err := fuse.NewServer(f, folder,
		&fuse.MountOptions{DirectMountStrict: true, FsName: "blockdev", MaxWrite: maxRequest, DisableXAttrs: true})
	if err != nil {
		return err
	}
	go server.Serve()
	err = server.WaitMount()
	if err == nil {
		err = f.ready()
	}
	// If a test was killed, its mount is still there.
	if gone := unix.Unmount(filepath.Join(base, mountFolder), unix.MNT_DETACH); !errors.Is(gone, unix.EINVAL) {
		err = errors.Join(err, gone)
	}
	err = errors.Join(err, unix.Unmount(folder, unix.MNT_DETACH))
	for _, left := range []string{folder, filepath.Join(base, mountFolder), base} {
		_ = os.Remove(left) // the test may have removed it
	}
	return err
}

// ready reports that the file is available. Then it forwards the test's responses until the connection is closed.
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

// send sends a request and waits for its result. After the test has exited, it returns OK, so that the mount can be
// removed.
func (f *file) send(op byte, offset uint64, data []byte) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	message := binary.LittleEndian.AppendUint64([]byte{op}, offset)
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

// Lookup implements fuse.RawFileSystem. The following methods do, too.
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

// SetAttr is called to set the timestamps after a write.
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

package memory

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Of returns the memory of a process.
func Of(pid int) Usage {
	dir := "/proc/" + strconv.Itoa(pid)
	content, err := os.ReadFile(dir + "/smaps_rollup")
	if err != nil {
		return resident(dir)
	}
	u := Usage{Total: -1, Anonymous: -1}
	for line := range bytes.Lines(content) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		value, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		kB, err := strconv.ParseInt(string(value), 10, 64)
		switch {
		case err != nil:
		case string(name) == "Pss":
			u.Total = kB << 10
		case string(name) == "Pss_Anon":
			u.Anonymous = kB << 10
		}
	}
	if u.Total < 0 || u.Anonymous < 0 {
		return resident(dir) // an old kernel
	}
	return u
}

// resident returns the resident memory of the process with a directory in /proc. Shared memory counts
// in full.
func resident(dir string) Usage {
	content, err := os.ReadFile(dir + "/statm")
	if err != nil {
		return Usage{}
	}
	columns := bytes.Fields(content) // the second one is the number of resident pages, the third one that of shared ones
	if len(columns) < 3 {
		return Usage{}
	}
	all, err1 := strconv.ParseInt(string(columns[1]), 10, 64)
	shared, err2 := strconv.ParseInt(string(columns[2]), 10, 64)
	if err1 != nil || err2 != nil {
		return Usage{}
	}
	size := int64(os.Getpagesize())
	return Usage{Total: all * size, Anonymous: (all - shared) * size}
}

// releaseMapped releases the pages of a file that this process has mapped to read it. If the mapping
// changes at the same time, that affects the speed of other memory, but never its content.
func releaseMapped(file string) {
	file, err := filepath.Abs(file)
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps") // proc_pid_maps(5): address range, permissions, offset, device, inode, path
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		columns := strings.Fields(line)
		if len(columns) < 6 || columns[1] != "r--s" || !strings.HasSuffix(strings.TrimSuffix(line, "\n"), " "+file) {
			continue
		}
		from, to, _ := strings.Cut(columns[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			// Linux before 5.4 can't do this. The system then keeps the pages until it needs memory.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_PAGEOUT)
		}
	}
}

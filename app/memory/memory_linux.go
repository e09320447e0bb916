package memory

import (
	"bytes"
	"os"
	"strconv"
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

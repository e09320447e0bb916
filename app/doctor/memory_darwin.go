package doctor

import "golang.org/x/sys/unix"

func machineMemory() (int64, error) {
	has, err := unix.SysctlUint64("hw.memsize")
	return int64(has), err
}

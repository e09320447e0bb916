package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpuTime grows while a process works, and is 0 for a process that doesn't exist.
func TestCPUTime(t *testing.T) {
	before := cpuTime(os.Getpid())
	for began := time.Now(); cpuTime(os.Getpid()) < before+50*time.Millisecond; {
		if time.Since(began) > time.Minute {
			t.Fatalf("cpuTime() = %v, was %v a minute ago", cpuTime(os.Getpid()), before)
		}
	}
	if got := cpuTime(1 << 30); got != 0 {
		t.Errorf("cpuTime() of no process = %v, want 0", got)
	}
}

func init() {
	systemFakes["low priority"] = func(string) int {
		must(lowerPriority())
		threads, err := os.ReadDir("/proc/self/task")
		must(err)
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			must(err)
			// The system call returns 20 minus the priority.
			if priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, id); err == nil && priority != 1 {
				return 5
			}
		}
		return 0
	}
}

func TestLowerPriority(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find test binary: %v", err)
	}
	if out, err := exec.Command(self, FakeArg, "low priority").CombinedOutput(); err != nil {
		t.Errorf("threads of a worker don't have the lowest priority: %v, %s", err, strings.TrimSpace(string(out)))
	}
}

func TestDefaultIdleTime(t *testing.T) {
	if o, err := (Options{}).withDefaults(); err != nil || o.IdleTime != 2*time.Minute {
		t.Errorf("workers end after %v, %v; want 2 minutes", o.IdleTime, err)
	}
}

package sandbox

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func ownExecutable() (string, error) { return os.Executable() }

// procAttributes keep a console window from flashing up.
func procAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// job is a job object: its processes die when the last handle to it is closed,
// which happens at the latest when this process ends.
type job windows.Handle

// Close implements io.Closer.
func (j job) Close() error { return windows.CloseHandle(windows.Handle(j)) }

// attachJob puts the child into a job of its own that limits its memory, has no second process,
// and dies with us. Until then the child waits for setup and has opened nothing.
func attachJob(child *os.Process, memory int64) (io.Closer, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	j := job(handle)
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: uintptr(memory)}
	limits.BasicLimitInformation.ActiveProcessLimit = 1 // it starts no program
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS |
		windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(handle, child.Pid)
	}
	if err != nil {
		_ = j.Close() // the first error is the one that matters
		return nil, fmt.Errorf("set up job object: %w", err)
	}
	return j, nil
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	err = windows.AssignProcessToJobObject(job, process)
	// The job keeps the process; this handle was for assigning only.
	_ = windows.CloseHandle(process)
	return err
}

// residentMemory is not looked at: the job object limits the memory.
func residentMemory(int) int64 { return 0 }

// limitSelf has nothing to add to the job object.
func limitSelf(int64) error { return nil }

// ownMemory is not looked at either.
func ownMemory() int64 { return 0 }

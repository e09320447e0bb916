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

// procAttributes prevents a console window from appearing.
func procAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// job is a job object. Its processes die when the last handle to it is closed, at the latest
// when this process ends.
type job windows.Handle

// Close implements io.Closer.
func (j job) Close() error { return windows.CloseHandle(windows.Handle(j)) }

// attachJob puts the worker into a job object that limits its memory, allows no second process,
// and ends with this process. Until it is attached, the worker waits for setup and has opened
// nothing.
func attachJob(process *os.Process, memory int64) (io.Closer, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	j := job(handle)
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: uintptr(memory)}
	limits.BasicLimitInformation.ActiveProcessLimit = 1 // it can't start a program
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS |
		windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(handle, process.Pid)
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
	// The handle was needed only for the assignment.
	_ = windows.CloseHandle(process)
	return err
}

// residentMemory returns 0: the job object limits the memory.
func residentMemory(int) int64 { return 0 }

// limitSelf does nothing: the job object sets all limits.
func limitSelf(int64) error { return nil }

// ownMemory returns 0: it is not needed here.
func ownMemory() int64 { return 0 }

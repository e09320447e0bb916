package sandbox

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func ownExecutable() (string, error) { return os.Executable() }

// procAttributes keeps a console window from appearing and sets the priority.
func procAttributes(low bool) *syscall.SysProcAttr {
	flags := uint32(windows.CREATE_NO_WINDOW)
	if low {
		flags |= windows.BELOW_NORMAL_PRIORITY_CLASS
	}
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: flags}
}

// nameProcess does nothing. Task Manager shows the name of the program file, and the first argument in
// the column "Command line".
func nameProcess(string) {}

// lowerPriority does nothing because procAttributes sets the priority.
func lowerPriority() error { return nil }

// job is a handle to a Windows job object. Windows kills the processes in the job when the handle is
// closed, which happens no later than when this process exits.
type job windows.Handle

// Close implements io.Closer.
func (j job) Close() error { return windows.CloseHandle(windows.Handle(j)) }

// attachJob puts the worker into a job object. The job object limits the worker's memory, prevents
// it from starting processes, and kills it when this process ends. Until then, the worker waits for
// its setup and has not opened anything.
func attachJob(process *os.Process, memory int64) (io.Closer, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	j := job(handle)
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: uintptr(memory)}
	limits.BasicLimitInformation.ActiveProcessLimit = 1 // the worker can't start another process
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS |
		windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(handle, process.Pid)
	}
	if err != nil {
		_ = j.Close() // only the first error is returned
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
	// The handle was only needed to assign the process to the job.
	_ = windows.CloseHandle(process)
	return err
}

// cpuTime returns the CPU time that a process has used, or 0 if it is unknown.
func cpuTime(pid int) time.Duration {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	var created, exited, kernel, user windows.Filetime
	err = windows.GetProcessTimes(process, &created, &exited, &kernel, &user)
	// The handle was needed only for the times.
	_ = windows.CloseHandle(process)
	if err != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) } // of 100 ns
	return time.Duration(ticks(kernel)+ticks(user)) * 100
}

// residentMemory returns 0 because the job object limits the memory.
func residentMemory(int) int64 { return 0 }

// limitSelf does nothing because the job object sets all limits.
func limitSelf(int64) error { return nil }

// ownMemory returns 0 because it is not needed on Windows.
func ownMemory() int64 { return 0 }

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// startProcess starts the process with a token without privileges. If that fails, it starts the
// process with the user's token and reports the missing protection.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	token, err := restrictedToken()
	if err == nil {
		cmd := command()
		cmd.SysProcAttr.Token = syscall.Token(token)
		err = errors.Join(cmd.Start(), token.Close())
		if cmd.Process != nil {
			return cmd, nil, err
		}
	}
	cmd, gaps := command(), missing(ProtectionRestrictedToken, err)
	err = cmd.Start()
	return cmd, gaps, err
}

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// restrictedToken returns a copy of this process's token without privileges.
func restrictedToken() (restricted windows.Token, err error) {
	const disableMaxPrivilege = 1
	var own windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return 0, err
	}
	if err := createRestrictedToken.Find(); err != nil {
		return 0, errors.Join(err, own.Close())
	}
	done, _, failure := createRestrictedToken.Call(uintptr(own), disableMaxPrivilege, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&restricted)))
	if done != 0 {
		failure = nil
	}
	return restricted, errors.Join(failure, own.Close())
}

// enclose applies the protections. From then on, the process can't write to the user's objects. The
// worker applies them itself because it must write to the cache first. Windows still lets it access
// the network and read everything that the user can read.
func enclose() []MissingProtection { return missing(ProtectionLowIntegrity, lowerIntegrity()) }

func lowerIntegrity() (err error) {
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return err
	}
	var own windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_DEFAULT, &own); err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: low, Attributes: windows.SE_GROUP_INTEGRITY}}
	err = windows.SetTokenInformation(own, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
	return errors.Join(err, own.Close())
}

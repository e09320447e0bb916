package doctor

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/sandbox"
)

// protectionAdvice explains, for each protection that the sandbox may lack, the risk and what to do about it.
var protectionAdvice = map[string]struct{ risk, action string }{
	sandbox.ProtectionNoNewPrivs: {"the process could gain privileges by starting another program",
		"allow the system call prctl for the service or its container"},
	sandbox.ProtectionLandlock: {"only the system call filter prevents the process from opening files",
		"use Linux 5.13 or later with Landlock enabled at boot (lsm=landlock,...), " +
			"and allow the landlock system calls for the service or its container"},
	sandbox.ProtectionSeccomp: {"the process could use the network and start programs",
		"allow the system call seccomp for the service or its container"},
	sandbox.ProtectionRlimits: {"the process could open many files", "allow the system call prlimit64 for the service or its container"},
	sandbox.ProtectionRestrictedToken: {"the process has all privileges of the service account",
		"allow the service account to start processes with a restricted token (CreateProcessAsUser)"},
	sandbox.ProtectionLowIntegrity: {"the process could change deedkeep's files", "use Windows 10 or Windows Server 2016 or later"},
	sandbox.ProtectionAll: {"the process could do everything that the service account can do",
		"run deedkeep on Linux if you receive documents from people you don't know"},
}

// completeSandbox returns a description of a sandbox that has all protections.
func completeSandbox() string {
	const message = "worker processes that open documents can't open files, use the network, or start programs"
	if runtime.GOOS == "windows" {
		return "worker processes that open documents can't write files or start programs; unlike on Linux, they can read files and use the network"
	}
	return message
}

// diagnoseSandbox describes what a malicious document could do if it took control of the worker process that opens it.
func diagnoseSandbox(gaps []sandbox.MissingProtection) apitypes.Diagnosis {
	const check = "sandbox"
	if len(gaps) == 0 {
		return ok(check, completeSandbox())
	}
	var lacks, means, action []string
	files, calls := false, false // the risk is higher if both are missing
	for _, g := range gaps {
		files, calls = files || g.Protection == sandbox.ProtectionLandlock, calls || g.Protection == sandbox.ProtectionSeccomp
		lacks = append(lacks, fmt.Sprintf("%s (%s)", g.Protection, cmp.Or(g.Reason, "not available")))
		means = append(means, protectionAdvice[g.Protection].risk)
		action = append(action, protectionAdvice[g.Protection].action)
	}
	if files && calls {
		means = []string{"the process could read deedkeep's files, use the network, and start programs"}
	}
	return warn(check, fmt.Sprintf("this system lacks %s; if a malicious document takes over a worker process, %s",
		strings.Join(lacks, " and "), strings.Join(means, ", and ")),
		strings.Join(action, "; "))
}

package sandbox

// The protections a sandbox consists of.
const (
	// ProtectionPrivileges keeps a child from gaining privileges by starting a program.
	ProtectionPrivileges = "no_new_privs"
	// ProtectionFiles denies a child all files, and where the kernel can do more, TCP and
	// signals to other processes.
	ProtectionFiles = "landlock"
	// ProtectionCalls lets a child make only the system calls it needs.
	ProtectionCalls = "seccomp"
	// ProtectionLimits bounds the files a child may have open, and what it may write.
	ProtectionLimits = "rlimits"
	// ProtectionToken takes the privileges of the user from a child on Windows.
	ProtectionToken = "restricted token"
	// ProtectionIntegrity lets a child on Windows write to nothing of the user's.
	ProtectionIntegrity = "low integrity"
	// ProtectionSystem is all of this, where the system has none that is used here.
	ProtectionSystem = "sandbox"
)

// Protections are all that a Gap may lack.
var Protections = []string{ProtectionPrivileges, ProtectionFiles, ProtectionCalls, ProtectionLimits, ProtectionToken, ProtectionIntegrity, ProtectionSystem}

// Gap is a protection that the system did not give a child. The child works without it.
type Gap struct {
	Lacks  string `json:"lacks"`
	Reason string `json:"reason"` // the system's error
}

// mostGaps is how many a child may report.
const mostGaps = 8

// gap returns what an error of the system means: nothing, or that it lacks a protection.
func gap(lacks string, err error) []Gap {
	if err == nil {
		return nil
	}
	return []Gap{{lacks, printable(err.Error())}}
}

// Gaps returns what the sandbox of the child that was started last lacks. known is false
// while none has been started.
func (p *Pool) Gaps() (gaps []Gap, known bool) {
	last := p.starter.gaps.Load()
	if last == nil {
		return nil, false
	}
	return *last, true
}

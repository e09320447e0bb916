package sandbox

// The protections a sandbox consists of.
const (
	// ProtectionNoNewPrivs keeps a child from gaining privileges by starting a program.
	ProtectionNoNewPrivs = "no_new_privs"
	// ProtectionLandlock denies a child all files, and where the kernel can do more, TCP and
	// signals to other processes.
	ProtectionLandlock = "landlock"
	// ProtectionSeccomp lets a child make only the system calls it needs.
	ProtectionSeccomp = "seccomp"
	// ProtectionRlimits bounds the files a child may have open, and what it may write.
	ProtectionRlimits = "rlimits"
	// ProtectionRestrictedToken takes the privileges of the user from a child on Windows.
	ProtectionRestrictedToken = "restricted token"
	// ProtectionLowIntegrity lets a child on Windows write to nothing of the user's.
	ProtectionLowIntegrity = "low integrity"
	// ProtectionAll is all of this, where the system has none that is used here.
	ProtectionAll = "sandbox"
)

// Protections are all that a Gap may lack.
var Protections = []string{ProtectionNoNewPrivs, ProtectionLandlock, ProtectionSeccomp, ProtectionRlimits, ProtectionRestrictedToken, ProtectionLowIntegrity, ProtectionAll}

// MissingProtection is a protection that the system did not give a child. The child works without it.
type MissingProtection struct {
	Protection string `json:"lacks"`
	Reason     string `json:"reason"` // the system's error
}

// maxMissing is how many a child may report.
const maxMissing = 8

// missing returns what an error of the system means: nothing, or that it lacks a protection.
func missing(lacks string, err error) []MissingProtection {
	if err == nil {
		return nil
	}
	return []MissingProtection{{lacks, printable(err.Error())}}
}

// MissingProtections returns what the sandbox of the child that was started last lacks. known is false
// while none has been started.
func (p *Pool) MissingProtections() (gaps []MissingProtection, known bool) {
	last := p.starter.missing.Load()
	if last == nil {
		return nil, false
	}
	return *last, true
}

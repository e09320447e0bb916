package sandbox

// Values of MissingProtection.Protection.
const (
	// ProtectionNoNewPrivs prevents a worker from gaining privileges by executing a program.
	ProtectionNoNewPrivs = "no_new_privs"
	// ProtectionLandlock denies a worker access to all files. Depending on the kernel, it also
	// denies TCP and signals to other processes.
	ProtectionLandlock = "landlock"
	// ProtectionSeccomp limits a worker to the system calls that it needs.
	ProtectionSeccomp = "seccomp"
	// ProtectionRlimits limits the number of open files and the file size.
	ProtectionRlimits = "rlimits"
	// ProtectionRestrictedToken removes the user's privileges from a worker on Windows.
	ProtectionRestrictedToken = "restricted token"
	// ProtectionLowIntegrity prevents a worker on Windows from writing to the user's objects.
	ProtectionLowIntegrity = "low integrity"
	// ProtectionAll stands for all protections on systems where none is implemented.
	ProtectionAll = "sandbox"
)

// Protections lists all valid values of MissingProtection.Protection.
var Protections = []string{ProtectionNoNewPrivs, ProtectionLandlock, ProtectionSeccomp, ProtectionRlimits,
	ProtectionRestrictedToken, ProtectionLowIntegrity, ProtectionAll}

// MissingProtection is a protection that the system could not apply to a worker. The worker runs
// without it.
type MissingProtection struct {
	Protection string `json:"protection"`
	Reason     string `json:"reason"` // the system's error message
}

// maxMissing is the maximum number of missing protections that a worker may report.
const maxMissing = 8

// missing returns a list with the given protection if err is not nil, else nil.
func missing(protection string, err error) []MissingProtection {
	if err == nil {
		return nil
	}
	return []MissingProtection{{protection, printable(err.Error())}}
}

// MissingProtections returns the protections that are missing in the most recently started worker.
// known is false if no worker has been started yet.
func (p *Pool) MissingProtections() (list []MissingProtection, known bool) {
	last := p.starter.missing.Load()
	if last == nil {
		return nil, false
	}
	return *last, true
}

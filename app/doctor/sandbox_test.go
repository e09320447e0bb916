package doctor

import (
	"strings"
	"testing"

	"deedkeep/app/sandbox"
)

func TestSandbox(t *testing.T) {
	missing := func(protection string) sandbox.MissingProtection {
		return sandbox.MissingProtection{Protection: protection, Reason: "not permitted"}
	}
	for name, c := range map[string]struct {
		missing []sandbox.MissingProtection
		state   string
		message string
		action  string
	}{
		"complete": {nil, OK, "can't", ""},
		"no Landlock": {[]sandbox.MissingProtection{missing(sandbox.ProtectionLandlock)}, Warn,
			"landlock (not permitted); if a malicious document takes over a worker process, only the system call filter", "5.13"},
		"no seccomp": {[]sandbox.MissingProtection{missing(sandbox.ProtectionSeccomp)}, Warn,
			"could use the network and start programs", "system call seccomp"},
		"neither": {[]sandbox.MissingProtection{missing(sandbox.ProtectionLandlock), missing(sandbox.ProtectionSeccomp)}, Warn,
			"could read deedkeep's files", "; "},
		"other system": {[]sandbox.MissingProtection{missing(sandbox.ProtectionAll)}, Warn, "everything that the service account can", "Linux"},
	} {
		t.Run(name, func(t *testing.T) {
			got := diagnoseSandbox(c.missing)
			if got.Check != "sandbox" || got.State != c.state || !strings.Contains(got.Message, c.message) ||
				!strings.Contains(got.Action, c.action) {
				t.Errorf("got %+v, want state %s, message %q, action %q", got, c.state, c.message, c.action)
			}
		})
	}
	for _, p := range sandbox.Protections {
		if protectionAdvice[p].risk == "" || protectionAdvice[p].action == "" {
			t.Errorf("protectionAdvice[%s] is empty, want a risk and an action", p)
		}
	}
}

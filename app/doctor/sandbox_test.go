package doctor

import (
	"strings"
	"testing"

	"deedkeep/app/sandbox"
)

func TestSandbox(t *testing.T) {
	gap := func(lacks string) sandbox.MissingProtection {
		return sandbox.MissingProtection{Protection: lacks, Reason: "not permitted"}
	}
	for name, c := range map[string]struct {
		gaps  []sandbox.MissingProtection
		state string
		says  string
		do    string
	}{
		"complete": {nil, OK, "can't", ""},
		"no Landlock": {[]sandbox.MissingProtection{gap(sandbox.ProtectionLandlock)}, Warn,
			"landlock (not permitted). If a document takes over the process that opens it, only the filter", "5.13"},
		"no seccomp": {[]sandbox.MissingProtection{gap(sandbox.ProtectionSeccomp)}, Warn,
			"could reach the network and start programs", "system call seccomp"},
		"neither": {[]sandbox.MissingProtection{gap(sandbox.ProtectionLandlock), gap(sandbox.ProtectionSeccomp)}, Warn,
			"could read the vault's files", "; "},
		"other system": {[]sandbox.MissingProtection{gap(sandbox.ProtectionAll)}, Warn, "all that the service's user can", "Linux"},
	} {
		t.Run(name, func(t *testing.T) {
			got := diagnoseSandbox(c.gaps)
			if got.Check != "sandbox" || got.State != c.state || !strings.Contains(got.Message, c.says) || !strings.Contains(got.Action, c.do) {
				t.Errorf("got %+v, want state %s, says %q, do %q", got, c.state, c.says, c.do)
			}
		})
	}
	for _, p := range sandbox.Protections {
		if protectionAdvice[p].risk == "" || protectionAdvice[p].do == "" {
			t.Errorf("%s: no words for a sandbox that lacks it", p)
		}
	}
}

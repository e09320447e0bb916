package doctor

import (
	"strings"
	"testing"

	"deedkeep/app/reader"
)

func TestSandbox(t *testing.T) {
	gap := func(lacks string) reader.Gap { return reader.Gap{Lacks: lacks, Reason: "not permitted"} }
	for name, c := range map[string]struct {
		gaps  []reader.Gap
		state string
		says  string
		do    string
	}{
		"complete":     {nil, OK, "can't", ""},
		"no Landlock":  {[]reader.Gap{gap(reader.ProtectionFiles)}, Warn, "landlock (not permitted). If a document takes over the process that opens it, only the filter", "5.13"},
		"no seccomp":   {[]reader.Gap{gap(reader.ProtectionCalls)}, Warn, "could reach the network and start programs", "system call seccomp"},
		"neither":      {[]reader.Gap{gap(reader.ProtectionFiles), gap(reader.ProtectionCalls)}, Warn, "could read the vault's files", "; "},
		"other system": {[]reader.Gap{gap(reader.ProtectionSystem)}, Warn, "all that the service's user can", "Linux"},
	} {
		t.Run(name, func(t *testing.T) {
			got := sandbox(c.gaps)
			if got.Check != "sandbox" || got.State != c.state || !strings.Contains(got.Says, c.says) || !strings.Contains(got.Do, c.do) {
				t.Errorf("got %+v, want state %s, says %q, do %q", got, c.state, c.says, c.do)
			}
		})
	}
	for _, p := range reader.Protections {
		if lacking[p].means == "" || lacking[p].do == "" {
			t.Errorf("%s: no words for a sandbox that lacks it", p)
		}
	}
}

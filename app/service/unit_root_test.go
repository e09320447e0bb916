//go:build root && linux

package service

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// systemd accepts each unit, and rates its exposure level below 2.0 (of 10).
func TestUnitForSystemd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"default": {Data: stateDir}, "quoted": {Data: `/srv/my "vault" 100%`, Config: "/etc/$x y.yaml", Writable: []string{"/back up"}},
		"home": {Data: homes[0] + "/jane/vault"},
	} {
		t.Run(name, func(t *testing.T) {
			o.Program, o.User = self, "root" // an account that exists
			file := filepath.Join(t.TempDir(), "deedkeep.service")
			if err := os.WriteFile(file, []byte(unitText("deedkeep", o)), 0o600); err != nil {
				t.Fatal(err)
			}
			verify, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
			if err != nil || len(bytes.TrimSpace(verify)) > 0 {
				t.Errorf("verify: got %v and %q, want nothing", err, verify)
			}
			// The rating is that of the account that the server has.
			o.User = DefaultName
			if err := os.WriteFile(file, []byte(unitText("deedkeep", o)), 0o600); err != nil {
				t.Fatal(err)
			}
			rating, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", file).CombinedOutput()
			level := regexp.MustCompile(`Overall exposure level for deedkeep.service: (\d+\.\d+)`).FindSubmatch(rating)
			if err != nil || level == nil {
				t.Fatalf("security: got %v, want a rating in\n%s", err, rating)
			}
			if score, err := strconv.ParseFloat(string(level[1]), 64); err != nil || score >= 2 {
				t.Errorf("got an exposure of %s, want less than 2.0\n%s", level[1], rating)
			}
		})
	}
}

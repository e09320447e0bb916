//go:build root && unix

package cmd

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Root manages an installed package without flags: commands find the settings file and the data directory, and run as
// the account that owns it. That account may only read the settings file.
func TestRootManagesInstalledPackage(t *testing.T) {
	const ownerID = 65534
	owner, err := user.LookupId(strconv.Itoa(ownerID))
	if err != nil {
		t.Fatalf("look up account: %v", err)
	}
	base := filepath.Dir(shortDataDir(t))
	etc, lib := filepath.Join(base, "etc"), filepath.Join(base, "lib")
	settings := filepath.Join(etc, "config.yaml")
	if _, err := seedVault(lib); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	program := filepath.Join(base, "deedkeep") // a copy, because only root can read the directory of the test binary
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatalf("read test binary: %v", err)
	}
	for _, err := range []error{
		os.WriteFile(program, self, 0o755), // #nosec G306 -- the other user runs it
		os.Chmod(base, 0o755),              // #nosec G302 -- the other user reads it
		os.Mkdir(etc, 0o755),               // #nosec G301 -- the other user reads it
		os.WriteFile(settings, []byte("data: "+lib+"\n"), 0o600), os.Chmod(settings, 0o640), os.Chown(settings, 0, ownerID),
		filepath.WalkDir(lib, func(path string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(path, ownerID, ownerID)
			}
			return err
		}),
	} {
		if err != nil {
			t.Fatalf("set up files: %v", err)
		}
	}
	for _, args := range [][]string{{"status"}, {"keys", "create", "Scanner"}, {"doctor"}} {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir, c.Env = "/", append(os.Environ(), "DEEDKEEP_TEST_ROOT="+base, "DEEDKEEP_READER_CACHE="+filepath.Join(base, "cache"))
		out, err := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code > 1 || code == 1 && args[0] != "doctor" || strings.Contains(string(out), "denied") {
			t.Errorf("%q: got %d, %v\n%s", args, code, err, out)
		}
		if !strings.Contains(string(out), owner.Username) {
			t.Errorf("%q: got %s, want a message that names the owner", args, out)
		}
	}
}

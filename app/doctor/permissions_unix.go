//go:build unix

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkPermissions checks whether other users on this machine can access the data directory or
// read its secrets.
func checkPermissions(c config.Config) (all []apitypes.Diagnosis) {
	for _, name := range []string{".", "secret.key", "vault.db", "tls/server.pem"} {
		all = append(all, checkMode(filepath.Join(c.Data, name), 0o077)...)
	}
	if c.TLS.Key != "" { // a group for certificates may have access to it
		all = append(all, checkMode(c.TLS.Key, 0o007)...)
	}
	if len(all) == 0 {
		all = append(all, ok("permissions", "only the service account can access the data directory and its secrets"))
	}
	return all
}

// checkMode returns a finding if the file has any of the permissions in mask or belongs to
// another user. Otherwise, it returns nil.
func checkMode(path string, mask fs.FileMode) []apitypes.Diagnosis {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return listOf(warn("permissions", fmt.Sprintf("can't check %s: %v", path, err), "run the command as the service account"))
	case info.Mode().Perm()&mask != 0:
		return listOf(bad("permissions", fmt.Sprintf("other users on this machine can access %s (%s)", path, info.Mode().Perm()), "chmod go= "+path))
	}
	if at, known := info.Sys().(*syscall.Stat_t); known && int(at.Uid) != os.Geteuid() {
		return listOf(warn("permissions", fmt.Sprintf("%s belongs to another user", path),
			"run this and all other commands as the service account"))
	}
	return nil
}

//go:build unix

package doctor

import (
	"path/filepath"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkUser checks whether the server runs as root. It assumes that the server runs as the owner of vault.db.
func checkUser(c config.Config) []apitypes.Diagnosis {
	uid, err := ownerOf(filepath.Join(c.Data, "vault.db"))
	if err != nil {
		return nil // checkOwners reports this error
	}
	return listOf(diagnoseUser(uid, c.Data))
}

func diagnoseUser(uid int, data string) apitypes.Diagnosis {
	const check = "user"
	if uid == 0 {
		return warn(check, "root owns the vault, so the server runs as root; a flaw in the server would put the entire machine at risk",
			"stop the server, change the owner of the vault to a dedicated user (chown -R USER: "+data+"), and start the server as that user")
	}
	return ok(check, "the server runs as "+userName(uid)+", not as root")
}

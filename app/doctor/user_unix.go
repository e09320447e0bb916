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
		return warn(check, "the vault belongs to root, so the server runs as root: an error in it would put all of this machine at risk",
			"stop the server, give the vault to a user of its own (chown -R USER: "+data+"), and start the server as that user")
	}
	return ok(check, "the server runs as "+userName(uid)+", not as root")
}

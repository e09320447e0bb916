//go:build unix

package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/integrity"
)

// checkUser checks whether the server runs as root. The server runs as the owner of the data directory.
func checkUser(c config.Config) []apitypes.Diagnosis {
	uid, _, known := integrity.DataOwner(c.Data)
	if isMissing(c.Data, "vault.db") || !known || integrity.CheckOwner(c.Data) != nil {
		return nil // checkOwners reports this error
	}
	return listOf(diagnoseUser(uid, c.Data))
}

func diagnoseUser(uid int, data string) apitypes.Diagnosis {
	const check = "user"
	if uid == 0 {
		return warn(check, "root owns the data directory, so the server runs as root; a flaw in the server would put the entire machine at risk",
			"stop the server, change the owner of the data directory to a dedicated user (chown -R USER: "+data+"), and start the server as that user")
	}
	return ok(check, "the server runs as "+integrity.UserName(uid)+", not as root")
}

package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkPermissions always returns OK. The access list was set when the data directory was
// created, and evaluating it would require the group memberships of all users.
func checkPermissions(c config.Config) []apitypes.Diagnosis {
	return []apitypes.Diagnosis{ok("permissions", "set when "+c.Data+` was created; run "icacls" to see who has access`)}
}

// checkOwners always returns OK, because files that an administrator creates in the data
// directory inherit its access list. The service can read them.
func checkOwners(config.Config) apitypes.Diagnosis {
	return ok("owners", "the access control list of the data directory applies to all files in it")
}

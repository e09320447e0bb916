package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkPermissions cannot tell much: the access list was set when the directory was made,
// and who may read it now is a question of groups that only Windows answers.
func checkPermissions(c config.Config) []apitypes.Diagnosis {
	return []apitypes.Diagnosis{ok("permissions", "set when "+c.Data+` was made; "icacls" shows who may read it`)}
}

// checkOwners has nothing to look at: what an administrator creates in the data directory has
// its access list, and with it the service's.
func checkOwners(config.Config) apitypes.Diagnosis {
	return ok("owners", "the access list of the data directory applies to all files in it")
}

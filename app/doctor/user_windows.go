package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkUser checks nothing, because the user of a Windows service is part of the service's configuration.
func checkUser(config.Config) []apitypes.Diagnosis { return nil }

package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkUser does nothing on Windows, because the user is part of the service's configuration.
func checkUser(config.Config) []apitypes.Diagnosis { return nil }

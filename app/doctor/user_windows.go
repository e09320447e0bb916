package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkUser has nothing to look at: who runs a service is in its settings of Windows.
func checkUser(config.Config) []apitypes.Diagnosis { return nil }

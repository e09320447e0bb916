package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// account has nothing to look at: who runs a service is in its settings of Windows.
func account(config.Config) []apitypes.Diagnosis { return nil }

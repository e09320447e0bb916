package doctor

import (
	"deedkeep/app/config"
	"deedkeep/app/wire"
)

// account has nothing to look at: who runs a service is in its settings of Windows.
func account(config.Config) []wire.Diagnosis { return nil }

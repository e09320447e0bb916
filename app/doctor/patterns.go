package doctor

import (
	"fmt"

	"deedkeep/app/apitypes"
	"deedkeep/app/extract"
	"deedkeep/app/settings"
)

// checkPatterns reports whether the administrator's patterns in the data directory are valid.
func checkPatterns(dir string) apitypes.Diagnosis {
	if isMissing(dir, extract.PatternsFileName) {
		return ok("patterns", "no county patterns")
	}
	problems := settings.ReadPatterns(dir).Problems
	if len(problems) == 0 {
		return ok("patterns", "county patterns are valid")
	}
	message := fmt.Sprintf("%s, %s", extract.PatternsFileName, problems[0])
	if more := len(problems) - 1; more > 0 {
		message += fmt.Sprintf(" (and %s)", apitypes.Count(more, "more problem", "more problems"))
	}
	return warn("patterns", message, "correct the file in the data directory and restart the server; until then, the server ignores all patterns in it")
}

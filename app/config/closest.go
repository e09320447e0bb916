package config

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// similarNames returns the closest of names or, if none is close, up to three that begin with the words in name.
func similarNames(name string, names []string) (similar []string) {
	if near := closestName(name, names); near != "" {
		return []string{near}
	}
	for _, candidate := range names {
		if strings.HasPrefix(candidate, name+"_") {
			similar = append(similar, candidate)
		}
	}
	if len(similar) > 3 {
		return nil
	}
	return similar
}

// closestName returns the element of names with the smallest edit distance from name, if that distance is at most two.
// Otherwise it returns "".
func closestName(name string, names []string) string {
	best, minEdits := "", 3
	for _, candidate := range names {
		if d := levenshtein.ComputeDistance(name, candidate); d < minEdits {
			best, minEdits = candidate, d
		}
	}
	return best
}

package config

import "strings"

// Problem is one reason why a configuration is invalid.
type Problem struct {
	Source string // `data/config.yaml:12`, `DEEDKEEP_LISTEN`, or `--listen`; "" for a default or if Load didn't create the Config
	Key    string // dotted key; "" if the problem concerns the entire file
	Reason string
}

// String formats p as `config.yaml:12: limits.file_size: must be …`.
func (p Problem) String() string {
	text := p.Reason
	if p.Key != "" {
		text = p.Key + ": " + text
	}
	if p.Source != "" {
		text = p.Source + ": " + text
	}
	return text
}

// Problems is the error returned by Load and Validate. Problems with the file come first, followed by problems with
// keys.
type Problems []Problem //nolint:errname // a list of problems

// Error returns the problems, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// err returns nil if p is empty, so that an empty list doesn't become a non-nil error.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

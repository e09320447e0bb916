package config

import "strings"

// Problem is one reason why a configuration is invalid.
type Problem struct {
	Source string // `data/config.yaml:12`, `DEEDKEEP_LISTEN`, `--listen`; empty for a default or a Config that Load didn't create
	Key    string // dotted; empty for a problem of the complete file
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

// Problems is the error of Load and Validate. Problems of the file come first, then those of the keys.
type Problems []Problem //nolint:errname // a list of problems

// Error returns one problem per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// err returns nil for an empty list, so that no empty Problems becomes a non-nil error.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

package config

import "strings"

// Problem is one reason why a configuration is refused.
type Problem struct {
	Source string // `data/config.yaml:12`, `DEEDKEEP_LISTEN`, `--listen`; empty for a default or a Config made by hand
	Key    string // dotted; empty when it is about the file as a whole
	Reason string
}

// String is `config.yaml:12: limits.file_size: must be …`.
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

// Problems are all reasons, in the order of the file, then of the keys: the error of Load and Validate.
type Problems []Problem //nolint:errname // what is wrong with settings is a list of problems

// Error has one problem on each line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// err keeps an empty list from becoming an error that is not nil.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/strictyaml"
)

// Limits on the texts of the page of county patterns, in bytes.
const (
	maxPatternsBytes = 200 << 10 // 1 KB for each of the 200 patterns that a text can have
	maxSampleBytes   = 20 << 10  // about 5 pages; the time to read them grows with it
)

// Patterns are the county patterns that administrators added to the built-in rules.
type Patterns struct {
	Text     string // stored on the page
	Version  string // identifies Text, to detect that another user changed it
	Problems []extract.Problem
	File     PatternsFile

	rules *extract.Rules
}

// PatternsFile is the file with county patterns in the data directory. Its patterns take precedence.
type PatternsFile struct {
	Path     string
	Text     string // "" if there is no file
	Problems []extract.Problem

	rules *extract.Rules // the built-in rules and those of the file
}

// ReadPatterns returns the file with county patterns in a data directory. If it has problems, the server uses none of its
// patterns.
func ReadPatterns(dir string) PatternsFile {
	f := PatternsFile{Path: filepath.Join(dir, extract.PatternsFileName), rules: extract.DefaultRules()}
	file, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	var text []byte
	if err == nil {
		defer func() { _ = file.Close() }() // it was only read
		text, err = strictyaml.Read(file)
	}
	if err != nil {
		f.Problems = []extract.Problem{{Reason: err.Error()}}
		return f
	}
	f.Text = string(text)
	f.rules, f.Problems = f.rules.WithPatterns(text)
	return f
}

// with returns the patterns with a stored text.
func (f PatternsFile) with(text string) *Patterns {
	sum := sha256.Sum256([]byte(text))
	p := &Patterns{Text: text, Version: hex.EncodeToString(sum[:8]), File: f}
	p.rules, p.Problems = f.rules.WithPatterns([]byte(text))
	return p
}

// readPatterns reads the file and the stored text, and logs their problems.
func (s *Service) readPatterns(ctx context.Context) error {
	text, err := store.Read(ctx, s.db.Store, (*store.Tx).Patterns)
	p := ReadPatterns(s.db.Dir).with(text)
	for _, problem := range p.File.Problems {
		s.db.Log.Error("county patterns not used because the file is not valid", "file", p.File.Path,
			"line", problem.Line, "error", problem.Reason)
	}
	for _, problem := range p.Problems {
		s.db.Log.Error("county patterns that were stored on the Settings page are not valid", "line", problem.Line, "error", problem.Reason)
	}
	s.patterns.Store(p)
	return err
}

// Patterns returns the county patterns.
func (s *Service) Patterns() Patterns { return *s.patterns.Load() }

// ExtractRules returns the rules for reading documents, with the county patterns that are in effect.
func (s *Service) ExtractRules() *extract.Rules { return s.patterns.Load().rules }

// checkPatterns returns the patterns with a text that an administrator entered. If the text has problems, the patterns are
// those without it.
func (s *Service) checkPatterns(text string) *Patterns {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text != "" {
		text += "\n"
	}
	file := s.patterns.Load().File
	if len(text) <= maxPatternsBytes {
		return file.with(text)
	}
	p := file.with("")
	p.Problems = []extract.Problem{{Reason: fmt.Sprintf("The patterns are longer than %d KB. Remove some.", maxPatternsBytes>>10)}}
	return p
}

// SetPatterns replaces the stored county patterns. They take effect immediately. seen is the version of the text that the
// user changed; the error is PreconditionFailed if another user has changed it since. If the new text has problems, nothing is
// stored.
func (s *Service) SetPatterns(ctx context.Context, actor model.Actor, text, seen string) ([]extract.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.checkPatterns(text)
	if len(next.Problems) > 0 {
		return next.Problems, nil
	}
	err := s.db.WriteAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		text, err := t.Patterns()
		if err != nil || text == next.Text {
			return err
		}
		before := next.File.with(text)
		if before.Version != seen {
			return errChanged
		}
		change := model.TextChange("county_patterns", before.Version, next.Version)
		switch {
		case before.Text == "":
			change.Text = "County patterns: added"
		case next.Text == "":
			change.Text = "County patterns: removed"
		default:
			change.Text = "County patterns: changed"
		}
		return errors.Join(t.PutPatterns(next.Text), s.db.AddEntry(t, model.Event{At: s.db.Now(), Actor: actor, Kind: "settings.changed",
			Changes: []model.Change{change}}))
	})
	if err == nil {
		s.patterns.Store(next)
	}
	return nil, err
}

// Sample is a text to try county patterns on.
type Sample struct {
	Text, County, State string
	Types               model.DocumentTypes // of the firm
}

// SampleField is a field that was read in a Sample.
type SampleField struct {
	Name, Value, Line string
	Added             bool // the built-in rules don't read this value
}

// TryPatterns returns what would be read in a sample with a new text of county patterns. It stores nothing.
func (s *Service) TryPatterns(text string, sample Sample) (found []SampleField, problems []extract.Problem) {
	next := s.checkPatterns(text)
	switch {
	case len(next.Problems) > 0:
		return nil, next.Problems
	case len(sample.Text) > maxSampleBytes:
		return nil, []extract.Problem{{Reason: fmt.Sprintf("The sample text is longer than %d KB. Paste a part of it.", maxSampleBytes>>10)}}
	}
	if !s.trying.TryLock() { // it can take seconds
		return nil, []extract.Problem{alreadyTrying}
	}
	defer s.trying.Unlock()
	read := func(rules *extract.Rules) extract.Fields {
		return extract.Read([]extract.Page{extract.PlainText(sample.Text)}, rules.For(sample.County, sample.State), sample.Types, s.db.Now())
	}
	usual := read(extract.DefaultRules())
	for name, field := range read(next.rules) {
		found = append(found, SampleField{Name: name, Value: strings.Join(field.Values, "; "), Line: strings.TrimSpace(field.Line),
			Added: !slices.Equal(field.Values, usual[name].Values)})
	}
	slices.SortFunc(found, func(a, b SampleField) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Proposals are patterns that read numbers of recording stamps as people recorded them.
type Proposals struct {
	List     []extract.Proposal
	Compared int // recorded instruments of the county that have text
}

// Propose returns patterns for a county that can be added to a new text of county patterns. recorded returns the instruments
// of the county. Propose stores nothing.
func (s *Service) Propose(ctx context.Context, text, county, state string, recorded func() ([]extract.RecordedInstrument, error)) (
	p Proposals, problems []extract.Problem, err error) {
	next := s.checkPatterns(text)
	if len(next.Problems) > 0 {
		return p, next.Problems, nil
	}
	if !s.trying.TryLock() { // it can take seconds
		return p, []extract.Problem{alreadyTrying}, nil
	}
	defer s.trying.Unlock()
	list, err := recorded()
	if err != nil {
		return p, nil, err
	}
	p.Compared = len(list)
	p.List, err = next.rules.Propose(ctx, county, state, list, s.db.Now())
	return p, nil, err
}

var alreadyTrying = extract.Problem{Reason: "Patterns are already being tried. Try again in a few seconds."}

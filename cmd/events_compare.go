package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/model"
)

// maxDifferences is how many entries that differ from an export are listed.
const maxDifferences = 1000

// compareWithExport adds to the report what an earlier export says otherwise than the log
// does now: the entries that were sealed anew, and those that are gone.
func compareWithExport(ctx context.Context, c *client.Client, path string, report *apitypes.EventVerify) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	kept, err := newExportReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	report.Agree = new(int64)
	if err := kept.next(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = c.ExportEvents(ctx, max(kept.seq, 1), func(e apitypes.Event) error {
		return kept.compare(report, e.Seq, &e)
	}, func(f apitypes.Finding) error { // the verification has named it
		seq, err := strconv.ParseInt(f.Subject, 10, 64)
		if err != nil {
			return err
		}
		return kept.compare(report, seq, nil)
	})
	if err == nil {
		err = kept.compare(report, afterLastEntry, nil)
	}
	if errors.Is(err, errNotAnExport) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// compare holds what the export has up to an entry against the log, where that entry
// is the next one; nil is one that cannot be read. What has the entry's hash must have
// its content: the verification has held the one against the other.
func (k *exportReader) compare(report *apitypes.EventVerify, seq int64, e *apitypes.Event) error {
	for k.seq != 0 && k.seq <= seq {
		switch {
		case k.seq < seq:
			addDifference(report, model.DefectMissing, k.seq, "the export has it")
		case e == nil:
		case k.hash != e.Hash:
			addDifference(report, model.DefectChanged, k.seq, "the export has another one")
		case !k.matches(*e):
			addDifference(report, findingExport, k.seq, "its line in the export is not what its hash was sealed for")
		default:
			*report.Agree++
		}
		before := k.seq
		if err := k.next(); err != nil {
			return err
		}
		if k.seq > before+1 {
			addDifference(report, findingExport, before+1, fmt.Sprintf("the export goes on with entry %d", k.seq))
		}
	}
	return nil
}

// findingExport is the kind of a finding about the export itself.
const findingExport = "export"

// matches reports whether the line at hand says what the log does. Of CSV, which a
// spreadsheet may have saved in another way, it is not known.
func (k *exportReader) matches(e apitypes.Event) bool {
	if k.line == nil {
		return true
	}
	kept, keptErr := apitypes.Marshal(*k.line)
	now, err := apitypes.Marshal(e)
	return keptErr == nil && err == nil && bytes.Equal(kept, now)
}

// afterLastEntry is behind every entry.
const afterLastEntry = 1<<63 - 1

func addDifference(report *apitypes.EventVerify, kind string, seq int64, problem string) {
	report.OK = false
	subject := strconv.FormatInt(seq, 10)
	known := slices.ContainsFunc(report.Findings, func(f apitypes.Finding) bool { return f.Kind == kind && f.Subject == subject })
	switch {
	case known:
	case len(report.Findings) >= maxDifferences:
		report.More++
	default:
		report.Findings = append(report.Findings, apitypes.Finding{Kind: kind, Subject: subject, Problem: problem})
	}
}

// exportReader reads the numbers and hashes of an export, line by line.
type exportReader struct {
	seq  int64 // of the entry at hand; 0 at the end
	hash string
	line *apitypes.Event // all of it; nil of CSV

	read func() (seq int64, hash string, err error)
}

var errNotAnExport = errors.New("this is no export of the log: JSON lines or CSV of \"deedkeep events export\" are wanted")

// newExportReader looks at the first byte for the format.
func newExportReader(r io.Reader) (*exportReader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(len(apitypes.ByteOrderMark))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(head, []byte(apitypes.ByteOrderMark)) {
		_, _ = in.Discard(len(apitypes.ByteOrderMark)) // it was seen
	} else if len(head) > 0 && head[0] == '{' {
		k := &exportReader{line: &apitypes.Event{}}
		k.read = jsonLinesReader(in, k.line)
		return k, nil
	}
	table := csv.NewReader(in)
	table.ReuseRecord = true
	columns, err := table.Read()
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", errNotAnExport, err)
	}
	seq, hash := slices.Index(columns, "seq"), slices.Index(columns, "hash")
	if seq < 0 || hash < 0 {
		return nil, errNotAnExport
	}
	return &exportReader{read: func() (int64, string, error) {
		row, err := table.Read()
		if err != nil {
			return 0, "", err
		}
		n, err := strconv.ParseInt(row[seq], 10, 64)
		return n, row[hash], err
	}}, nil
}

func jsonLinesReader(in io.Reader, line *apitypes.Event) func() (int64, string, error) {
	lines := json.NewDecoder(in)
	lines.DisallowUnknownFields() // nothing in a line is beyond its hash
	return func() (int64, string, error) {
		*line = apitypes.Event{}
		err := lines.Decode(line)
		return line.Seq, line.Hash, err
	}
}

// next goes on to the next entry.
func (k *exportReader) next() error {
	before := k.seq
	var err error
	k.seq, k.hash, err = k.read()
	switch {
	case errors.Is(err, io.EOF):
		k.seq = 0
		return nil
	case err != nil:
		return fmt.Errorf("%w (%v)", errNotAnExport, err)
	case k.seq <= before:
		return fmt.Errorf("%w (entry %d follows entry %d)", errNotAnExport, k.seq, before)
	case k.hash == "":
		return fmt.Errorf("%w (entry %d has no hash)", errNotAnExport, k.seq)
	}
	return nil
}

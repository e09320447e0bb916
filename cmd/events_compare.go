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
	"deedkeep/app/control"
	"deedkeep/app/model"
)

// maxDifferences is the maximum number of differences from an export that are listed. The
// others are only counted.
const maxDifferences = 1000

// compareWithExport compares the audit log with an earlier export and adds entries that
// were changed or are missing to report.
func compareWithExport(ctx context.Context, c *control.Client, path string, report *apitypes.EventVerify) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	export, err := newExportReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	report.Matching = new(int64)
	if err := export.next(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = c.ExportEvents(ctx, max(export.seq, 1), func(e apitypes.Event) error {
		return export.compare(report, e.Seq, &e)
	}, func(f apitypes.Finding) error { // VerifyEvents has already reported this finding
		seq, err := strconv.ParseInt(f.Subject, 10, 64)
		if err != nil {
			return err
		}
		return export.compare(report, seq, nil)
	})
	if err == nil {
		err = export.compare(report, afterLastEntry, nil)
	}
	if errors.Is(err, errNotAnExport) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// compare reads the entries of the export up to seq and compares them with the audit log. e
// is the entry seq of the log, or nil if it can't be read. Entries of the export below seq
// are missing from the log. If an entry has the same hash in both, its content must also be
// the same, because VerifyEvents has already verified the hashes of the log.
func (r *exportReader) compare(report *apitypes.EventVerify, seq int64, e *apitypes.Event) error {
	for r.seq != 0 && r.seq <= seq {
		switch {
		case r.seq < seq:
			addDifference(report, model.DefectMissing, r.seq, "this entry is only in the export")
		case e == nil:
		case r.hash != e.Hash:
			addDifference(report, model.DefectChanged, r.seq, "the entry in the export is different")
		case !r.matches(*e):
			addDifference(report, findingExport, r.seq, "the line in the export doesn't match its hash")
		default:
			*report.Matching++
		}
		previous := r.seq
		if err := r.next(); err != nil {
			return err
		}
		if r.seq > previous+1 {
			addDifference(report, findingExport, previous+1, fmt.Sprintf("not in the export; the next entry there is %d", r.seq))
		}
	}
	return nil
}

// findingExport is the type of findings about the export itself.
const findingExport = "export"

// matches reports whether the current line of the export has the same content as e. For
// CSV, it always returns true, because a spreadsheet application may have reformatted the
// file.
func (r *exportReader) matches(e apitypes.Event) bool {
	if r.line == nil {
		return true
	}
	export, exportErr := apitypes.Marshal(*r.line)
	current, err := apitypes.Marshal(e)
	return exportErr == nil && err == nil && bytes.Equal(export, current)
}

// afterLastEntry is greater than any sequence number.
const afterLastEntry = 1<<63 - 1

func addDifference(report *apitypes.EventVerify, kind string, seq int64, problem string) {
	report.OK = false
	subject := strconv.FormatInt(seq, 10)
	listed := slices.ContainsFunc(report.Findings, func(f apitypes.Finding) bool { return f.Kind == kind && f.Subject == subject })
	switch {
	case listed:
	case len(report.Findings) >= maxDifferences:
		report.More++
	default:
		report.Findings = append(report.Findings, apitypes.Finding{Kind: kind, Subject: subject, Problem: problem})
	}
}

// exportReader reads an export one entry at a time.
type exportReader struct {
	seq  int64 // sequence number of the current entry; 0 at the end
	hash string
	line *apitypes.Event // the complete entry; nil for CSV

	read func() (seq int64, hash string, err error)
}

var errNotAnExport = errors.New("not an audit log export; use JSON lines or CSV from \"deedkeep events export\"")

// newExportReader detects from the first bytes whether the export is JSON lines or CSV.
func newExportReader(r io.Reader) (*exportReader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(len(apitypes.ByteOrderMark))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(head, []byte(apitypes.ByteOrderMark)) {
		_, _ = in.Discard(len(apitypes.ByteOrderMark)) // can't fail, because these bytes were peeked
	} else if len(head) > 0 && head[0] == '{' {
		lines := &exportReader{line: &apitypes.Event{}}
		lines.read = jsonLinesReader(in, lines.line)
		return lines, nil
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

// jsonLinesReader returns a function that decodes the next entry into line and returns its
// sequence number and hash.
func jsonLinesReader(in io.Reader, line *apitypes.Event) func() (int64, string, error) {
	lines := json.NewDecoder(in)
	lines.DisallowUnknownFields() // the hash would not cover an unknown field
	return func() (int64, string, error) {
		*line = apitypes.Event{}
		err := lines.Decode(line)
		return line.Seq, line.Hash, err
	}
}

// next reads the next entry.
func (r *exportReader) next() error {
	previous := r.seq
	var err error
	r.seq, r.hash, err = r.read()
	switch {
	case errors.Is(err, io.EOF):
		r.seq = 0
		return nil
	case err != nil:
		return fmt.Errorf("%w (%v)", errNotAnExport, err)
	case r.seq <= previous:
		return fmt.Errorf("%w (entry %d follows entry %d)", errNotAnExport, r.seq, previous)
	case r.hash == "":
		return fmt.Errorf("%w (entry %d has no hash)", errNotAnExport, r.seq)
	}
	return nil
}

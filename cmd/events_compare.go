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

	"deedkeep/app/client"
	"deedkeep/app/title"
	"deedkeep/app/wire"
)

// mostRewritten is how many entries that differ from an export are listed.
const mostRewritten = 1000

// holdAgainst adds to the report what an earlier export says otherwise than the log
// does now: the entries that were sealed anew, and those that are gone.
func holdAgainst(ctx context.Context, c *client.Client, path string, report *wire.EventVerify) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	kept, err := newKeptLog(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := kept.next(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = c.EachEvent(ctx, max(kept.seq, 1), func(e wire.Event) error {
		return kept.compare(report, e.Seq, e.Hash)
	}, func(f wire.Finding) error { // the verification has named it
		seq, err := strconv.ParseInt(f.Subject, 10, 64)
		if err != nil {
			return err
		}
		return kept.compare(report, seq, "")
	})
	if err == nil {
		err = kept.compare(report, endless, "")
	}
	if errors.Is(err, errNoExport) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// compare holds what the export has up to an entry against the log, where that entry
// is the next one; one that cannot be read has no hash.
func (k *keptLog) compare(report *wire.EventVerify, seq int64, hash string) error {
	for k.seq != 0 && k.seq <= seq {
		switch {
		case k.seq < seq:
			differ(report, title.FlawMissing, k.seq, "the export has it")
		case k.hash != hash && hash != "":
			differ(report, title.FlawChanged, k.seq, "the export has another one")
		}
		if err := k.next(); err != nil {
			return err
		}
	}
	return nil
}

// endless is behind every entry.
const endless = 1<<63 - 1

func differ(report *wire.EventVerify, kind string, seq int64, problem string) {
	report.OK = false
	subject := strconv.FormatInt(seq, 10)
	known := slices.ContainsFunc(report.Findings, func(f wire.Finding) bool { return f.Kind == kind && f.Subject == subject })
	switch {
	case known:
	case len(report.Findings) >= mostRewritten:
		report.More++
	default:
		report.Findings = append(report.Findings, wire.Finding{Kind: kind, Subject: subject, Problem: problem})
	}
}

// keptLog reads the numbers and hashes of an export, line by line.
type keptLog struct {
	seq  int64 // of the entry at hand; 0 at the end
	hash string

	read func() (seq int64, hash string, err error)
}

var errNoExport = errors.New("this is no export of the log: JSON lines or CSV of \"deedkeep events export\" are wanted")

// newKeptLog looks at the first byte for the format.
func newKeptLog(r io.Reader) (*keptLog, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(len(byteOrderMark))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(head, []byte(byteOrderMark)) {
		_, _ = in.Discard(len(byteOrderMark)) // it was seen
	} else if len(head) > 0 && head[0] == '{' {
		return &keptLog{read: keptLines(in)}, nil
	}
	table := csv.NewReader(in)
	table.ReuseRecord = true
	columns, err := table.Read()
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", errNoExport, err)
	}
	seq, hash := slices.Index(columns, "seq"), slices.Index(columns, "hash")
	if seq < 0 || hash < 0 {
		return nil, errNoExport
	}
	return &keptLog{read: func() (int64, string, error) {
		row, err := table.Read()
		if err != nil {
			return 0, "", err
		}
		n, err := strconv.ParseInt(row[seq], 10, 64)
		return n, row[hash], err
	}}, nil
}

func keptLines(in io.Reader) func() (int64, string, error) {
	lines := json.NewDecoder(in)
	return func() (int64, string, error) {
		var line struct {
			Seq  int64  `json:"seq"`
			Hash string `json:"hash"`
		}
		err := lines.Decode(&line)
		return line.Seq, line.Hash, err
	}
}

// next goes on to the next entry.
func (k *keptLog) next() error {
	before := k.seq
	var err error
	k.seq, k.hash, err = k.read()
	switch {
	case errors.Is(err, io.EOF):
		k.seq = 0
		return nil
	case err != nil:
		return fmt.Errorf("%w (%v)", errNoExport, err)
	case k.seq <= before:
		return fmt.Errorf("%w (entry %d follows entry %d)", errNoExport, k.seq, before)
	case k.hash == "":
		return fmt.Errorf("%w (entry %d has no hash)", errNoExport, k.seq)
	}
	return nil
}

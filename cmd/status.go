package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/control"
)

func (s *shell) statusCommand() *cobra.Command {
	return listCommand(s, "status", "Show server status and storage usage", "  deedkeep status --json", (*control.Client).Status,
		func(status apitypes.Status) error { return s.print(status, "%s", table(s.statusRows(status))) })
}

func (s *shell) statusRows(status apitypes.Status) [][]string {
	running := "not running"
	if status.Running && status.StartedAt != nil && status.Listen != nil {
		scheme := "http"
		if status.Certificate != nil {
			scheme = "https"
		}
		running = fmt.Sprintf("running at %s://%s since %s", scheme, *status.Listen, s.formatTime(status.StartedAt))
	}
	failed := fmt.Sprint(status.Failed)
	if status.Failed > 0 {
		failed += " (see \"deedkeep process list\")"
	}
	rows := [][]string{
		{"server", running},
		{"certificate", s.certificateRow(status.Certificate)},
		{"version", status.Version + " " + status.Commit},
		{"data", status.Data},
		{"abstracts", fmt.Sprint(status.Abstracts)},
		{"orders", fmt.Sprint(status.Orders)},
		{"documents", fmt.Sprintf("%d (%s)", status.Files, apitypes.HumanSize(status.Bytes))},
		{"storage", storageRow(status.Storage)},
		{"folders", fmt.Sprint(status.Folders)},
		{"trash", fmt.Sprint(status.Trashed)},
		{"queued", fmt.Sprint(status.Queue)},
		{"failed", failed},
		{"ocr", s.ocrRow(status)},
		{"search", searchRow(status.Search)},
		{"damage", damagedRow(status.Damaged)},
		{"scrub", s.scrubRow(status.Scrub)},
		{"disk", fmt.Sprintf("%s free, %s reserved", apitypes.HumanSize(status.DiskFree), apitypes.HumanSize(status.DiskReserve))},
		{"writes", writesRow(status)},
	}
	if status.Example {
		rows = slices.Insert(rows, 4, []string{"example", "yes: invented names and documents (see \"deedkeep help example\")"})
	}
	if len(status.UpgradeFiles) > 0 {
		rows = append(rows, []string{"upgrade", upgradeRow(status.UpgradeFiles)})
	}
	if len(status.Memory) > 0 {
		rows = append(rows, []string{"memory", memoryRow(status.Memory)})
	}
	return append(rows, s.backupRows(status)...)
}

// ocrRow returns how many pages wait for OCR, and which ones are being read.
func (s *shell) ocrRow(status apitypes.Status) string {
	if status.OCRFiles == 0 {
		return "no pages waiting"
	}
	row := fmt.Sprintf("%s of %s waiting", apitypes.Count(status.OCRPages, "page", "pages"),
		apitypes.Count(status.OCRFiles, "document", "documents"))
	switch {
	case status.Running && !status.OCREnabled:
		row += " (OCR is off; to turn it on, set ocr.enabled: true and restart the server)"
	case status.OCRResumesAt != nil:
		row += " (OCR resumes at " + s.formatTime(status.OCRResumesAt) + ", see ocr.hours)"
	}
	separator := "; reading "
	for _, p := range status.OCRReading {
		row += fmt.Sprintf("%spage %d of document %d", separator, p.Page, p.File)
		separator = ", "
	}
	return row
}

// storageRow returns the disk space of the data directory, and of each part.
func storageRow(s apitypes.Storage) string {
	total := s.Documents + s.Database + s.Previews + s.Texts + s.SearchIndex + s.Cache + s.Other
	row := fmt.Sprintf("%s (documents %s, database %s, previews %s, texts %s, search index %s, cache %s, other %s)",
		apitypes.HumanSize(total), apitypes.HumanSize(s.Documents), apitypes.HumanSize(s.Database), apitypes.HumanSize(s.Previews),
		apitypes.HumanSize(s.Texts), apitypes.HumanSize(s.SearchIndex), apitypes.HumanSize(s.Cache), apitypes.HumanSize(s.Other))
	if !s.Complete {
		return "more than " + row
	}
	return row
}

// upgradeRow returns which files the last upgrade of the database has left.
func upgradeRow(list []apitypes.UpgradeFile) string {
	parts := make([]string, 0, len(list))
	for _, f := range list {
		parts = append(parts, fmt.Sprintf("%s (%s)", f.Name, apitypes.HumanSize(f.Bytes)))
	}
	return strings.Join(parts, ", ") + ", kept until the next upgrade (see \"deedkeep rollback --help\")"
}

// memoryRow returns the memory of all processes, and of each type.
func memoryRow(list []apitypes.ProcessMemory) string {
	var total int64
	parts := make([]string, 0, len(list))
	for _, p := range list {
		total += p.Bytes
		name := p.Process
		if p.Count != 1 {
			name = fmt.Sprintf("%d %s", p.Count, p.Process)
		}
		parts = append(parts, fmt.Sprintf("%s %s", name, apitypes.HumanSize(p.Bytes)))
	}
	return fmt.Sprintf("%s (%s)", apitypes.HumanSize(total), strings.Join(parts, ", "))
}

// writesRow returns whether the server accepts changes and, if not, why. If the disk is full or
// nearly full, it also says what still works.
func writesRow(status apitypes.Status) string {
	row := "enabled"
	switch {
	case status.WritesDenied != nil:
		row = "DISABLED: " + *status.WritesDenied
	case status.StillWorks != nil:
		row = "LIMITED:"
	}
	if status.StillWorks != nil {
		row += " " + *status.StillWorks
	}
	return row
}

func (s *shell) certificateRow(c *apitypes.Certificate) string {
	if c == nil {
		return "none (HTTP only)"
	}
	row := fmt.Sprintf("expires %s, SHA-256 %s", s.formatTime(&c.NotAfter), c.Fingerprint)
	dates := certificate.Info{NotBefore: c.NotBefore.Time, NotAfter: c.NotAfter.Time}
	if problem := dates.Problem(time.Now()); problem != "" {
		return strings.ToUpper(problem) + ": " + row + "; run \"deedkeep doctor\""
	}
	return row
}

// damagedRow returns a text that lists the first few documents that are damaged on disk.
func damagedRow(list []apitypes.Damaged) string {
	if len(list) == 0 {
		return "none found"
	}
	files := make([]uint64, 0, len(list))
	for _, d := range list {
		files = append(files, d.File)
	}
	return fmt.Sprintf("%d DAMAGED: %s; upload these documents again or restore them from a backup", len(list), damagedFiles(files))
}

// damagedFiles returns a text that lists the first few of files, for example "document 3,
// document 9, and 2 more".
func damagedFiles(files []uint64) string {
	const maxNamed = 5
	names := make([]string, 0, maxNamed+1)
	for _, id := range files[:min(len(files), maxNamed)] {
		names = append(names, fmt.Sprintf("document %d", id))
	}
	if more := len(files) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// scrubRow returns the progress of the scrub, which reads all stored documents to find
// damage.
func (s *shell) scrubRow(status apitypes.Scrub) string {
	if status.EverySeconds == 0 {
		return "off (scrub.every: 0)"
	}
	if status.StartedAt == nil {
		return "not started; the running server checks all documents in the background"
	}
	last := "first pass not complete"
	if status.CompletedAt != nil {
		last = "last pass completed " + s.formatTime(status.CompletedAt)
	}
	if status.Overdue {
		last = "OVERDUE: " + last
	}
	return fmt.Sprintf("%s; current pass %.0f%%, started %s", last, 100*status.Progress, s.formatTime(status.StartedAt))
}

package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
)

// Status returns the number of records in the vault, the lengths of its queues, and the free disk space.
func (c *Client) Status(ctx context.Context) (apitypes.Status, error) {
	return call[apitypes.Status](ctx, c, "GET /control/status", nil)
}

func (h handler) status(r *http.Request) (any, error) { return h.currentStatus(r) }

func (h handler) currentStatus(r *http.Request) (apitypes.Status, error) {
	s, err := h.App.Status(r.Context())
	if err != nil {
		return apitypes.Status{}, err
	}
	out := apitypes.Status{
		Running: h.Listen != "", Version: h.Build.Version, Commit: h.Build.Commit, Data: h.App.Dir, Listen: encode.OptionalString(h.Listen),
		Example:   h.App.IsExample(),
		Abstracts: int64(s.Abstracts), Orders: int64(s.Orders), Files: int64(s.Files), Folders: int64(s.Folders),
		Trashed: int64(s.Trashed), Bytes: int64(s.Bytes),
		Queue: int64(s.Queue), Failed: int64(s.Failed),
		OCRFiles: int64(s.OCRFiles), OCRPages: int64(s.OCRPages), OCREnabled: s.OCREnabled,
		DiskFree: int64(s.DiskFree), DiskReserve: int64(s.DiskReserve), ReadOnly: s.ReadOnly,
	}
	if h.Certificate != nil {
		out.Certificate = certificateShape(h.Certificate())
	}
	for _, p := range h.App.OCR.Reading() {
		out.OCRReading = append(out.OCRReading, apitypes.OCRPage{File: p.FileID, Page: p.Page})
	}
	if h.Memory != nil {
		for _, p := range h.Memory() {
			out.Memory = append(out.Memory, apitypes.ProcessMemory{Process: p.Type, Count: p.Count, Bytes: p.Total, AnonymousBytes: p.Anonymous})
		}
	}
	if !s.OCRPausedUntil.IsZero() {
		out.OCRResumesAt = new(apitypes.At(s.OCRPausedUntil))
	}
	if !h.StartedAt.IsZero() {
		out.StartedAt = new(apitypes.At(h.StartedAt))
	}
	if s.Denied != nil {
		out.WritesDenied = new(writesDenied(s))
	}
	out.DocumentRoom, out.StillWorks = int64(s.Room.Document), encode.OptionalString(s.Room.StillWorks(apitypes.HumanSize))
	index, err := h.App.Search.State(r.Context())
	if err != nil {
		return out, err
	}
	out.Search = searchIndex(index)
	if out.Storage, err = h.App.Storage(r.Context()); err != nil && s.Denied == nil {
		return out, err
	}
	if err := h.damageStatus(r.Context(), &out, s); err != nil {
		return out, err
	}
	h.backupStatus(&out)
	for _, f := range h.App.UpgradeFiles() {
		out.UpgradeFiles = append(out.UpgradeFiles, apitypes.UpgradeFile{Name: f.Name(), Bytes: f.Size()})
	}
	return out, nil
}

// writesDenied returns one sentence with the reason why writes are denied. If the disk is full, the sentence contains
// the disk figures.
func writesDenied(s instance.Status) string {
	named, ok := errors.AsType[*errs.Error](s.Denied)
	switch {
	case ok && named.Kind == errs.InsufficientStorage:
		return fmt.Sprintf("The disk has %s free, less than the reserve of %s (disk.reserve). Free up disk space to upload and add records again.",
			apitypes.HumanSize(int64(s.DiskFree)), apitypes.HumanSize(int64(s.DiskReserve)))
	case ok:
		return named.Message
	}
	return s.Denied.Error()
}

func certificateShape(f *certificate.Info) *apitypes.Certificate {
	if f == nil {
		return nil
	}
	return &apitypes.Certificate{
		Names: f.Names, NotBefore: apitypes.At(f.NotBefore), NotAfter: apitypes.At(f.NotAfter), Fingerprint: f.Fingerprint,
		SelfSigned: f.SelfSigned,
	}
}

// backupStatus adds the results of the last backups.
func (h handler) backupStatus(out *apitypes.Status) {
	state := h.App.Backups.State()
	out.BackupProblem = encode.OptionalString(state.Problem)
	if good := state.LastGood; good != nil {
		out.LastBackupAt, out.LastBackup = new(apitypes.At(good.At)), new(backupShape(*good))
	}
	if failed := h.App.Backups.ScheduleFailure(state); failed != nil {
		out.BackupFailure = &apitypes.BackupFailure{At: apitypes.At(failed.At), To: failed.To, Reason: failed.Reason}
	}
	if state.Next != nil {
		out.NextBackupAt = new(apitypes.At(*state.Next))
	}
}

// damageStatus adds the known damage and the state of the scrub to out.
func (h handler) damageStatus(ctx context.Context, out *apitypes.Status, s instance.Status) error {
	damaged, err := h.App.DamagedRecords(ctx)
	for _, d := range damaged {
		out.Damaged = append(out.Damaged, apitypes.Damaged{File: d.FileID, SHA256: d.Digest, Problem: d.Problem, FoundAt: apitypes.At(d.FoundAt)})
	}
	scrub := s.Scrub
	out.Scrub = apitypes.Scrub{
		EverySeconds: int64(scrub.Every / time.Second), Progress: scrub.Progress,
		AgeSeconds: int64(scrub.Age / time.Second), Overdue: scrub.Overdue,
	}
	if !scrub.Started.IsZero() {
		out.Scrub.StartedAt = new(apitypes.At(scrub.Started))
	}
	if !scrub.Completed.IsZero() {
		out.Scrub.CompletedAt = new(apitypes.At(scrub.Completed))
	}
	return err
}

// Checkup returns the part of a diagnosis that only the open vault can provide. The doctor command uses it.
func (c *Client) Checkup(ctx context.Context) (apitypes.Checkup, error) {
	return call[apitypes.Checkup](ctx, c, "GET /control/doctor", nil)
}

func (h handler) checkup(r *http.Request) (any, error) {
	status, err := h.currentStatus(r)
	if err != nil {
		return nil, err
	}
	found, err := h.App.Checkup(r.Context())
	out := apitypes.Checkup{Status: status, MonthBytes: int64(found.MonthBytes), Clean: found.AtOpen.Clean,
		Unchecked: found.AtOpen.SkipReason}
	if failed := cmp.Or(found.AtOpen.WriteError, found.AtOpen.LostWrites); failed != nil {
		out.DiskError = failed.Error()
	}
	if !found.NewestEvent.IsZero() {
		out.NewestEventAt = new(apitypes.At(found.NewestEvent))
	}
	if !found.UncleanStopAt.IsZero() {
		out.UncleanStopAt = new(apitypes.At(found.UncleanStopAt))
	}
	if h.Forwarded != nil {
		out.Forwarded = h.Forwarded.List()
	}
	return out, err
}

// Probes creates paths of the public address for probes; nil if no server runs.
type Probes interface {
	Open() (path string, err error)
}

// OpenProbe returns a path at the public address that accepts one body and discards it. Without a running server it
// returns a *client.Error of status 409.
func (c *Client) OpenProbe(ctx context.Context) (string, error) {
	opened, err := call[apitypes.ProbeOpened](ctx, c, "POST /control/probe", nil)
	return opened.Path, err
}

func (h handler) openProbe(*http.Request) (any, error) {
	if h.Probes == nil {
		return nil, &errs.Error{Kind: errs.Conflict, Message: "No server is running on this data directory."}
	}
	path, err := h.Probes.Open()
	return apitypes.ProbeOpened{Path: path}, err
}

// ProcessFailures returns the first 1,000 files whose processing failed.
func (c *Client) ProcessFailures(ctx context.Context) ([]apitypes.ProcessFailure, error) {
	return data[[]apitypes.ProcessFailure](ctx, c, "GET /control/process", nil)
}

// maxFailed is the maximum number of failures in a response.
const maxFailed = 1000

func (h handler) failed(r *http.Request) (any, error) {
	files, err := h.App.Processing.Failed(r.Context(), 1, maxFailed)
	return list(files, func(f model.File) apitypes.ProcessFailure {
		return apitypes.ProcessFailure{ID: int64(f.ID), Filename: f.Filename, Reason: f.Failure}
	}), err
}

// RetryProcessing queues a file whose processing failed again. If file is 0, it queues all failed files. It returns
// the number of queued files.
func (c *Client) RetryProcessing(ctx context.Context, file int64) (int, error) {
	body, err := call[apitypes.ProcessRetried](ctx, c, "POST /control/process/retry", apitypes.ProcessRetry{File: file})
	return body.Retried, err
}

func (h handler) retry(r *http.Request, asked apitypes.ProcessRetry) (any, error) {
	if asked.File < 0 {
		return nil, errs.RecordNotFound("file", asked.File)
	}
	n, err := h.App.Processing.Retry(r.Context(), operator(r), uint64(asked.File))
	return apitypes.ProcessRetried{Retried: n}, err
}

// Settings returns the settings that are stored in the data directory.
func (c *Client) Settings(ctx context.Context) (map[string]string, error) {
	return data[map[string]string](ctx, c, "GET /control/settings", nil)
}

func (h handler) settings(r *http.Request) (any, error) {
	stored, err := h.App.Stored.Stored(r.Context())
	return apitypes.Data[map[string]string]{Data: stored}, err
}

package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
)

// Metrics of the vault. A time is in seconds since 1970, or 0 if the event has never happened. For this reason, a
// rule such as "time() - … > 172800" also fires if the event has never happened.
var (
	up = gauge("vault_up", "1 if the vault could be asked; 0 if not, and then no other number of the vault is told.")

	records     = gauge("records", "Records that are stored, by noun; what is in the trash counts as trashed.", "noun")
	storedBytes = gauge("stored_document_bytes", "Size of all documents, each as often as it is filed, without the trash.")
	database    = gauge("database_bytes", "Size of the database file.")
	diskFree    = gauge("disk_free_bytes", "Room on the disk of the data directory.")
	diskReserve = gauge("disk_reserve_bytes", "Room that stays free: below it nothing is stored (disk.reserve).")
	damaged     = gauge("documents_damaged", "Stored documents whose bytes are known to be damaged or missing; deedkeep status names them.")
	scrubAge    = gauge("scrub_age_seconds",
		"Time since the last complete scrub of all stored documents, or since the first one started if none is complete; 0 if scrub.every is 0.")
	scrubPart = gauge("scrub_progress_ratio", "Part of the stored documents that the current scrub has read, 0 to 1.")
	scrubDone = gauge("scrub_last_completion_timestamp_seconds", "When a scrub last completed reading every stored document; 0 if none has.")
	readOnly  = gauge("read_only", "1 if the vault takes no more changes after a failure of its disk, until it is restarted.")

	documentsFiled    = counter("documents_filed_total", "Documents that were filed.")
	filedBytes        = counter("documents_filed_bytes_total", "Size of the documents that were filed.")
	documentsRejected = counter("documents_refused_total",
		"Documents that were refused for what they are, such as too large, damaged or of another type.")

	queue     = gauge("processing_queue_length", "Documents that wait for their text and pictures.")
	queueAge  = gauge("processing_queue_oldest_age_seconds", "How long the first document of the queue is overdue; 0 when none is.")
	failed    = gauge("processing_failed", "Documents that could not be processed; deedkeep process list says why.")
	processed = counter("processing_documents_total",
		"Documents whose processing ended, by what became of it: done; failed: the document cannot be processed; postponed: it is tried "+
			"again later; gone: the document was deleted meanwhile.", "outcome")

	commitChanges = metric{prometheus.NewDesc("deedkeep_commit_changes",
		"Changes that shared one commit, and so one sync of the disk.", nil, nil), 0}
	commitSeconds = metric{prometheus.NewDesc("deedkeep_commit_duration_seconds", "Time a commit took to be written and synced.", nil, nil), 0}

	backupSuccess  = gauge("backup_last_success_timestamp_seconds", "When the last good backup was made; 0 if there is none.")
	backupFailure  = gauge("backup_last_failure_timestamp_seconds", "When the last backup failed, if no good one was made since; else 0.")
	backupBytes    = gauge("backup_last_bytes", "Size of the documents in the last good backup.")
	backupNext     = gauge("backup_next_timestamp_seconds", "When the next backup is due by plan; 0 without a plan.")
	backupVerified = gauge("backup_last_verification_timestamp_seconds",
		"When the server last read backups and held every byte against its sum; 0 if not since it was started.")
	backupVerifyOK = gauge("backup_last_verification_success",
		"1 if the last verification of backups by the server found nothing wrong; 0 too if it made none since it was started, when its "+
			"timestamp is 0.")

	signIns = counter("sign_ins_total",
		"Tries of people to sign in, by what became of them: success; password: the name or the password is wrong; code_needed: the "+
			"password is right, the code of the second factor comes next; code: that is wrong; step: that came too late; wait: too many "+
			"tries; busy: too many at once; trouble: of ours.", "outcome")
)

// vaultCollector collects the metrics of the vault.
type vaultCollector struct {
	metrics func(context.Context) (instance.Metrics, error)
	now     func() time.Time
	log     *slog.Logger
}

// Describe implements prometheus.Collector.
func (s *vaultCollector) Describe(to chan<- *prometheus.Desc) {
	for _, t := range []metric{
		up, records, storedBytes, database, diskFree, diskReserve, damaged, scrubAge, scrubPart, scrubDone, readOnly, documentsFiled,
		filedBytes, documentsRejected, queue, queueAge, failed, processed,
		commitChanges, commitSeconds, backupSuccess, backupFailure, backupBytes, backupNext, backupVerified, backupVerifyOK, signIns,
		searchReady, searchBuilding, searchIndexed, searchTotal, searchRecords, searchBytes, searchSegments, searchBehind,
		searchMissingTexts, searchFailing, searchRequests, searchSeconds,
	} {
		to <- t.desc
	}
}

// collectTimeout is the maximum time for the vault to return its metrics.
const collectTimeout = 5 * time.Second

// Collect implements prometheus.Collector. If the vault returns an error, Collect sends only up = 0.
func (s *vaultCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	n, err := s.metrics(ctx)
	if err != nil {
		s.log.Warn("the vault's numbers", "error", err)
	}
	sink(to).flag(up, err == nil)
	if err != nil {
		return
	}
	s.contents(to, n.Status)
	s.work(to, n)
	sendSearch(to, n)
	s.backup(to, n)
}

func (s *vaultCollector) contents(to sink, status instance.Status) {
	for _, r := range []struct {
		kind  string
		count uint64
	}{
		{"abstract", status.Abstracts}, {"order", status.Orders}, {"file", status.Files}, {"folder", status.Folders}, {"trashed", status.Trashed},
	} {
		number(to, records, r.count, r.kind)
	}
	number(to, storedBytes, status.Bytes)
	number(to, diskFree, status.DiskFree)
	number(to, diskReserve, status.DiskReserve)
	number(to, queue, status.Queue)
	number(to, failed, status.Failed)
	to.flag(readOnly, status.ReadOnly)
	number(to, damaged, status.Damaged)
	number(to, scrubPart, status.Scrub.Progress)
	number(to, scrubDone, unixSeconds(status.Scrub.Completed))
	age := status.Scrub.Age
	if status.Scrub.Every == 0 {
		age = 0
	}
	number(to, scrubAge, age.Seconds())
}

func (s *vaultCollector) work(to sink, n instance.Metrics) {
	number(to, database, n.DatabaseBytes)
	number(to, documentsFiled, n.Uploaded)
	number(to, filedBytes, n.UploadedBytes)
	number(to, documentsRejected, n.Rejected)
	age := 0.0
	if !n.OldestTask.IsZero() {
		age = max(0, s.now().Sub(n.OldestTask).Seconds())
	}
	number(to, queueAge, age)
	to.byLabel(processed, jobs.Outcomes, n.Processed)
	to.byLabel(signIns, auth.SignInOutcomes, n.SignIns)
	to.histogram(commitChanges, n.Commits.Changes)
	to.histogram(commitSeconds, n.Commits.Seconds)
}

func (s *vaultCollector) backup(to sink, n instance.Metrics) {
	var good, failure, next time.Time
	var size uint64
	if b := n.Backup.LastGood; b != nil {
		good, size = b.At, uint64(max(b.Bytes, 0))
	}
	if b := n.Backup.Failed; b != nil {
		failure = b.At
	}
	if n.Backup.Next != nil {
		next = *n.Backup.Next
	}
	number(to, backupSuccess, unixSeconds(good))
	number(to, backupFailure, unixSeconds(failure))
	number(to, backupNext, unixSeconds(next))
	number(to, backupBytes, size)
	number(to, backupVerified, unixSeconds(n.BackupsVerified))
	to.flag(backupVerifyOK, n.BackupsIntact)
}

// unixSeconds returns at in seconds since 1970, or 0 for the zero time.
func unixSeconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

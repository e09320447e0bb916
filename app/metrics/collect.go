package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/memory"
	"deedkeep/app/search"
	"deedkeep/app/stats"
)

// collector collects everything that is read when Prometheus scrapes it: the metrics of the vault,
// the worker processes, and unusable forwarding headers. A time is in seconds since 1970, or 0 if
// the event has never happened. For this reason, a rule such as "time() - … > 172800" also fires
// if the event has never happened.
type collector struct {
	Options
	vault func(context.Context) (instance.Metrics, error)
}

// Describe implements prometheus.Collector. It sends nothing, because Collect contains the only
// list of the metrics.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// collectTimeout is the maximum time for the vault to return its metrics.
const collectTimeout = 5 * time.Second

// Collect implements prometheus.Collector. If the vault returns an error, Collect sends only up = 0
// and the metrics of the other sources.
func (c *collector) Collect(channel chan<- prometheus.Metric) {
	to := sink(channel)
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	n, err := c.vault(ctx)
	gauge(to, "vault_up", "1 if the state of the vault could be read. At 0, the other metrics of the vault are missing.", flag(err == nil))
	if err != nil {
		c.Log.Warn("metrics of the vault not collected", "error", err)
	} else {
		collectContents(to, n)
		collectScrub(to, n.Status)
		c.collectWork(to, n)
		collectSearch(to, n)
		collectBackups(to, n)
	}
	if c.Sandbox != nil {
		s := c.Sandbox()
		gauge(to, "reader_processes", "Number of running worker processes that open documents.", s.Alive)
		counter(to, "reader_processes_started_total", "Number of worker processes started.", s.Started)
		counter(to, "reader_processes_ended_total",
			"Number of worker processes stopped, mostly because a document exceeded the time or memory limit.", s.Killed)
		counter(to, "reader_tasks_total", "Number of finished document tasks (inspection, preview, or text), successful or not.", s.Served)
		gauge(to, "reader_tasks_waiting", "Number of document tasks (inspection, preview, or text) waiting for a worker process.", s.Waiting)
	}
	if c.CertificateExpires != nil {
		gauge(to, "tls_certificate_expires_timestamp_seconds",
			"Time when the certificate in use expires, in seconds since 1970. 0 if the server doesn't use HTTPS.",
			unixSeconds(c.CertificateExpires()))
	}
	if c.Memory != nil {
		collectMemory(to, c.Memory())
	}
	if c.Forwarded != nil {
		untrusted, unreadable := c.Forwarded()
		to.byLabel(prometheus.CounterValue, "forwarded_headers_unused_total",
			"Number of requests whose forwarding headers were ignored, by reason. \"untrusted\": the sender is not in trusted_proxies. "+
				"\"unreadable\": the headers contain no valid client address.",
			"reason", []string{"untrusted", "unreadable"}, map[string]uint64{"untrusted": untrusted, "unreadable": unreadable})
	}
}

func collectMemory(to sink, list []memory.Processes) {
	var types []string
	count, total, anonymous := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	for _, p := range list {
		types = append(types, p.Type)
		count[p.Type], total[p.Type], anonymous[p.Type] = uint64(max(p.Count, 0)), uint64(max(p.Total, 0)), uint64(max(p.Anonymous, 0))
	}
	const label = "process"
	to.byLabel(prometheus.GaugeValue, "processes",
		`Number of running processes. "server": the server. "render": workers that open documents. "ocr": workers that read scanned pages.`,
		label, types, count)
	to.byLabel(prometheus.GaugeValue, "process_memory_bytes",
		"Memory of all processes of a type. Memory that processes share counts once (PSS on Linux).", label, types, total)
	to.byLabel(prometheus.GaugeValue, "process_anonymous_memory_bytes",
		"Part of deedkeep_process_memory_bytes that isn't a copy of files on disk. The system frees the rest when it needs memory.", label, types, anonymous)
}

func collectContents(to sink, n instance.Metrics) {
	s := n.Status
	to.byLabel(prometheus.GaugeValue, "records", "Number of stored records by type. Records in the trash count as \"trashed\".",
		"type", []string{"abstract", "order", "file", "folder", "trashed"},
		map[string]uint64{"abstract": s.Abstracts, "order": s.Orders, "file": s.Files, "folder": s.Folders, "trashed": s.Trashed})
	gauge(to, "stored_document_bytes", "Total size of all documents that are not in the trash. Duplicates count each time.", s.Bytes)
	gauge(to, "database_bytes", "Size of the database file.", n.DatabaseBytes)
	gauge(to, "disk_free_bytes", "Free disk space of the data directory.", s.DiskFree)
	gauge(to, "disk_reserve_bytes", "Minimum free disk space (disk.reserve). Below it, uploads and new records are rejected.", s.DiskReserve)
	gauge(to, "documents_damaged", "Number of stored documents known to be damaged or missing. To list them, run deedkeep status.", s.Damaged)
	gauge(to, "read_only", "1 if the vault is read-only because of a disk error, until the server is restarted.", flag(s.ReadOnly))
}

func collectScrub(to sink, status instance.Status) {
	s := status.Scrub
	if s.Every == 0 {
		s.Age = 0
	}
	gauge(to, "scrub_age_seconds",
		"Time since the last complete scrub of all stored documents, or since the start of the first one. 0 if scrub.every is 0.",
		s.Age.Seconds())
	gauge(to, "scrub_progress_ratio", "Progress of the current scrub, from 0 to 1.", s.Progress)
	gauge(to, "scrub_last_completion_timestamp_seconds",
		"Time of the last complete scrub, in seconds since 1970. 0 if none.", unixSeconds(s.Completed))
}

func (c *collector) collectWork(to sink, n instance.Metrics) {
	counter(to, "documents_uploaded_total", "Number of documents uploaded.", n.Uploaded)
	counter(to, "documents_uploaded_bytes_total", "Total size of the uploaded documents.", n.UploadedBytes)
	counter(to, "documents_rejected_total",
		"Number of documents rejected because of their size, type, or content.", n.Rejected)
	age := 0.0
	if !n.OldestTask.IsZero() {
		age = max(0, c.Now().Sub(n.OldestTask).Seconds())
	}
	gauge(to, "processing_queue_length", "Number of documents queued for text and previews.", n.Status.Queue)
	gauge(to, "processing_queue_oldest_age_seconds", "Time since the first document in the queue became due. 0 if none is overdue.", age)
	gauge(to, "processing_failed", "Number of documents whose processing failed. To list the reasons, run deedkeep process list.", n.Status.Failed)
	to.byLabel(prometheus.CounterValue, "processing_documents_total",
		`Number of processed documents by outcome. "done": processed. "failed": the document can't be processed. `+
			`"postponed": the server retries later. "deleted": the document was deleted.`, "outcome", jobs.Outcomes, n.Processed)
	gauge(to, "ocr_waiting_documents", "Number of documents with scanned pages that OCR hasn't read.", n.Status.OCRFiles)
	gauge(to, "ocr_waiting_pages", "Number of scanned pages that OCR hasn't read.", n.Status.OCRPages)
	to.byLabel(prometheus.CounterValue, "ocr_pages_total",
		`Number of scanned pages by outcome. "done": the words were read. "failed": the page can't be read.`,
		"outcome", jobs.PageOutcomes, n.PagesRead)
	to.byLabel(prometheus.CounterValue, "sign_ins_total",
		`Number of sign-in attempts by outcome. "success": signed in. "wrong_password": incorrect username or password. `+
			`"code_needed": correct password, verification code required. "wrong_code": incorrect verification code. `+
			`"expired": verification code entered too late. "too_many_attempts": wait before the next one. `+
			`"busy": too many attempts at the same time. "error": server error.`, "outcome", auth.SignInOutcomes, n.SignIns)
	to.histogram("commit_changes", "Number of changes per commit. Each commit syncs the disk once.", n.Commits.Changes)
	to.histogram("commit_duration_seconds", "Time to write and sync a commit.", n.Commits.Seconds)
}

func collectSearch(to sink, n instance.Metrics) {
	s := n.Search
	gauge(to, "search_ready", "1 if a complete search index is available. At 0, clients are asked to retry later.", flag(s.Ready))
	gauge(to, "search_building", "1 while a search index is being built, even if another one is in use. Otherwise 0.", flag(s.Building))
	gauge(to, "search_build_indexed_records",
		"Number of records already in the search index being built. 0 if none is being built.", s.Done)
	gauge(to, "search_build_records", "Total number of records of the search index being built. 0 if none is being built.", s.Total)
	gauge(to, "search_index_records",
		"Number of records (documents, abstracts, and orders) in the current search index.", s.Documents)
	gauge(to, "search_index_bytes", "Disk space used by the search index.", s.Bytes)
	gauge(to, "search_index_segments", "Number of segments in the current search index. The server merges small segments into larger ones.", s.Segments)
	gauge(to, "search_behind_changes", "Number of record changes that are not in the search index yet.", s.PendingChanges)
	gauge(to, "search_missing_texts",
		"Number of documents whose text must be extracted again for the search index.", s.MissingText)
	gauge(to, "search_failing",
		"1 while the search index can't be updated, otherwise 0. For the reason, see the server log or run deedkeep status.", flag(s.Failure != ""))
	to.byLabel(prometheus.CounterValue, "search_requests_total",
		`Number of searches by outcome. "found": at least one result. "no_results": none. "invalid": invalid query. `+
			`"timeout": took too long. "busy": too many searches at the same time. "no_index": the search index is being built. `+
			`"canceled": the client disconnected before the response. "error": server error.`, "outcome", search.Outcomes, n.Searches)
	to.histogram("search_duration_seconds", "Duration of successful searches, including reading the records found.", n.SearchSeconds)
}

func collectBackups(to sink, n instance.Metrics) {
	var good, failure, next time.Time
	var size int64
	if b := n.Backup.LastGood; b != nil {
		good, size = b.At, max(b.Bytes, 0)
	}
	if b := n.Backup.Failed; b != nil {
		failure = b.At
	}
	if n.Backup.Next != nil {
		next = *n.Backup.Next
	}
	gauge(to, "backup_last_success_timestamp_seconds", "Time of the last successful backup, in seconds since 1970. 0 if none.", unixSeconds(good))
	gauge(to, "backup_last_failure_timestamp_seconds",
		"Time of the last failed backup, in seconds since 1970. 0 if none, or if a later backup succeeded.", unixSeconds(failure))
	gauge(to, "backup_last_bytes", "Total size of the documents in the last successful backup.", size)
	gauge(to, "backup_next_timestamp_seconds", "Time of the next scheduled backup, in seconds since 1970. 0 if backups are not scheduled.", unixSeconds(next))
	gauge(to, "backup_last_verification_timestamp_seconds",
		"Unix time of the last backup verification by the server. 0 if no verification has run since the server started.", unixSeconds(n.BackupsVerified))
	gauge(to, "backup_last_verification_success",
		"1 if the last backup verification by the server found no damage. 0 if it found damage, or if no verification has run since the "+
			"server started.", flag(n.BackupsIntact))
}

// unixSeconds returns at in seconds since 1970, or 0 for the zero time.
func unixSeconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

// sink sends values to a Prometheus channel.
type sink chan<- prometheus.Metric

type value interface {
	~int | ~int64 | ~uint64 | ~float64
}

func gauge[T value](to sink, name, help string, now T) {
	to <- prometheus.MustNewConstMetric(desc(name, help), prometheus.GaugeValue, float64(now))
}

func counter[T value](to sink, name, help string, total T) {
	to <- prometheus.MustNewConstMetric(desc(name, help), prometheus.CounterValue, float64(total))
}

func (s sink) histogram(name, help string, r stats.Snapshot) {
	s <- prometheus.MustNewConstHistogram(desc(name, help), r.Count, r.Sum, r.Buckets)
}

// byLabel sends one value for each word of a label.
func (s sink) byLabel(kind prometheus.ValueType, name, help, label string, words []string, values map[string]uint64) {
	for _, word := range words {
		s <- prometheus.MustNewConstMetric(desc(name, help, label), kind, float64(values[word]), word)
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("deedkeep_"+name, help, labels, nil)
}

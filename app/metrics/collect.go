package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
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
	gauge(to, "vault_up", "1 if the vault's state could be read. If it is 0, the other metrics of the vault are missing.", flag(err == nil))
	if err != nil {
		c.Log.Warn("the vault's numbers", "error", err)
	} else {
		collectContents(to, n)
		collectScrub(to, n.Status)
		c.collectWork(to, n)
		collectSearch(to, n)
		collectBackups(to, n)
	}
	if c.Sandbox != nil {
		s := c.Sandbox()
		gauge(to, "reader_processes", "Processes that open documents, now.", s.Alive)
		counter(to, "reader_processes_started_total", "Processes that were started to open documents.", s.Started)
		counter(to, "reader_processes_ended_total",
			"Processes that ended, nearly all of them because a document took too long or too much.", s.Killed)
		counter(to, "reader_tasks_total", "Inspections, pictures and texts of documents that were made, or found to be impossible.", s.Served)
		gauge(to, "reader_tasks_waiting", "Inspections, pictures and texts that wait for a process.", s.Waiting)
	}
	if c.Forwarded != nil {
		untrusted, unreadable := c.Forwarded()
		to.byLabel(prometheus.CounterValue, "forwarded_headers_unused_total",
			"Requests whose forwarding headers the server could not use, by the reason: untrusted: they came from an address that is not in "+
				"trusted_proxies; unreadable: no client address could be read.",
			"reason", []string{"untrusted", "unreadable"}, map[string]uint64{"untrusted": untrusted, "unreadable": unreadable})
	}
}

func collectContents(to sink, n instance.Metrics) {
	s := n.Status
	to.byLabel(prometheus.GaugeValue, "records", "Records that are stored, by noun; what is in the trash counts as trashed.",
		"noun", []string{"abstract", "order", "file", "folder", "trashed"},
		map[string]uint64{"abstract": s.Abstracts, "order": s.Orders, "file": s.Files, "folder": s.Folders, "trashed": s.Trashed})
	gauge(to, "stored_document_bytes", "Size of all documents, each as often as it is filed, without the trash.", s.Bytes)
	gauge(to, "database_bytes", "Size of the database file.", n.DatabaseBytes)
	gauge(to, "disk_free_bytes", "Room on the disk of the data directory.", s.DiskFree)
	gauge(to, "disk_reserve_bytes", "Room that stays free: below it nothing is stored (disk.reserve).", s.DiskReserve)
	gauge(to, "documents_damaged", "Stored documents whose bytes are known to be damaged or missing; deedkeep status names them.", s.Damaged)
	gauge(to, "read_only", "1 if the vault takes no more changes after a failure of its disk, until it is restarted.", flag(s.ReadOnly))
}

func collectScrub(to sink, status instance.Status) {
	s := status.Scrub
	if s.Every == 0 {
		s.Age = 0
	}
	gauge(to, "scrub_age_seconds",
		"Time since the last complete scrub of all stored documents, or since the first one started if none is complete; 0 if scrub.every is 0.",
		s.Age.Seconds())
	gauge(to, "scrub_progress_ratio", "Part of the stored documents that the current scrub has read, 0 to 1.", s.Progress)
	gauge(to, "scrub_last_completion_timestamp_seconds",
		"When a scrub last completed reading every stored document; 0 if none has.", unixSeconds(s.Completed))
}

func (c *collector) collectWork(to sink, n instance.Metrics) {
	counter(to, "documents_filed_total", "Documents that were filed.", n.Uploaded)
	counter(to, "documents_filed_bytes_total", "Size of the documents that were filed.", n.UploadedBytes)
	counter(to, "documents_refused_total",
		"Documents that were refused for what they are, such as too large, damaged or of another type.", n.Rejected)
	age := 0.0
	if !n.OldestTask.IsZero() {
		age = max(0, c.Now().Sub(n.OldestTask).Seconds())
	}
	gauge(to, "processing_queue_length", "Documents that wait for their text and pictures.", n.Status.Queue)
	gauge(to, "processing_queue_oldest_age_seconds", "How long the first document of the queue is overdue; 0 when none is.", age)
	gauge(to, "processing_failed", "Documents that could not be processed; deedkeep process list says why.", n.Status.Failed)
	to.byLabel(prometheus.CounterValue, "processing_documents_total",
		"Documents whose processing ended, by what became of it: done; failed: the document cannot be processed; postponed: it is tried "+
			"again later; gone: the document was deleted.", "outcome", jobs.Outcomes, n.Processed)
	to.byLabel(prometheus.CounterValue, "sign_ins_total",
		"Tries of people to sign in, by what became of them: success; password: the name or the password is wrong; code_needed: the "+
			"password is right, the two-factor code comes next; code: that is wrong; step: that came too late; wait: too many "+
			"tries; busy: too many at once; trouble: of ours.", "outcome", auth.SignInOutcomes, n.SignIns)
	to.histogram("commit_changes", "Changes that shared one commit, and so one sync of the disk.", n.Commits.Changes)
	to.histogram("commit_duration_seconds", "Time a commit took to be written and synced.", n.Commits.Seconds)
}

func collectSearch(to sink, n instance.Metrics) {
	s := n.Search
	gauge(to, "search_ready", "1 if searches are answered by a whole search index, 0 while callers are told to come again.", flag(s.Ready))
	gauge(to, "search_building", "1 while a search index is being made, be it beside one that answers.", flag(s.Building))
	gauge(to, "search_build_indexed_records",
		"Records that are in the search index that is being made, of deedkeep_search_build_records; 0 when none is.", s.Done)
	gauge(to, "search_build_records", "Records that the search index that is being made will have; 0 when none is.", s.Total)
	gauge(to, "search_index_records",
		"Records that are in the search index that answers; a document is one, and so is an abstract and an order.", s.Documents)
	gauge(to, "search_index_bytes", "Size of the search index that answers, on the disk.", s.Bytes)
	gauge(to, "search_index_segments", "Segments of the search index that answers; many small ones are joined to few large ones.", s.Segments)
	gauge(to, "search_behind_changes", "Changes of records that the search index does not know of yet.", s.PendingChanges)
	gauge(to, "search_missing_texts",
		"Documents whose text is still to be made again, for a search index that is being made or the one that answers.", s.MissingText)
	gauge(to, "search_failing",
		"1 while the search index does not follow what is changed; the log and deedkeep status say why.", flag(s.Failure != ""))
	to.byLabel(prometheus.CounterValue, "search_requests_total",
		"Searches, by what became of them: found; nothing; refused: it could not be asked so; deadline: it took too long; busy: too many "+
			"others were under way; no_index: the search index is being built; left: the client disconnected before the response; "+
			"trouble: of ours.", "outcome", search.Outcomes, n.Searches)
	to.histogram("search_duration_seconds", "Time of a search that was answered, with the reading of what was found.", n.SearchSeconds)
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
	gauge(to, "backup_last_success_timestamp_seconds", "When the last good backup was made; 0 if there is none.", unixSeconds(good))
	gauge(to, "backup_last_failure_timestamp_seconds",
		"When the last backup failed, if no good one was made since; else 0.", unixSeconds(failure))
	gauge(to, "backup_last_bytes", "Size of the documents in the last good backup.", size)
	gauge(to, "backup_next_timestamp_seconds", "When the next backup is due by plan; 0 without a plan.", unixSeconds(next))
	gauge(to, "backup_last_verification_timestamp_seconds",
		"When the server last read backups and held every byte against its sum; 0 if not since it was started.", unixSeconds(n.BackupsVerified))
	gauge(to, "backup_last_verification_success",
		"1 if the last verification of backups by the server found nothing wrong; 0 too if it made none since it was started, when its "+
			"timestamp is 0.", flag(n.BackupsIntact))
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

func (to sink) histogram(name, help string, r stats.Snapshot) {
	to <- prometheus.MustNewConstHistogram(desc(name, help), r.Count, r.Sum, r.Buckets)
}

// byLabel sends one value for each word of a label.
func (to sink) byLabel(kind prometheus.ValueType, name, help, label string, words []string, values map[string]uint64) {
	for _, word := range words {
		to <- prometheus.MustNewConstMetric(desc(name, help, label), kind, float64(values[word]), word)
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("deedkeep_"+name, help, labels, nil)
}

package apitypes

// Status is the response of GET /control/status. Running is false, and StartedAt and Listen are nil, if the command
// opened the vault because no server runs. Trashed counts records in the trash, an abstract with its documents as one.
// Bytes, DiskFree, and DiskReserve are in bytes. Queue counts files that wait for processing, Failed those whose
// processing failed permanently. OCRFiles counts the files with pages that wait for OCR, OCRPages these pages.
type Status struct {
	Running   bool    `json:"running"`
	StartedAt *Time   `json:"started_at"`
	Version   string  `json:"version"`
	Commit    string  `json:"commit"`
	Data      string  `json:"data"`
	Listen    *string `json:"listen"`
	Example   bool    `json:"example"` // whether the records are those of an example firm

	Certificate *Certificate `json:"certificate"`

	Abstracts int64 `json:"abstracts"`
	Orders    int64 `json:"orders"`
	Files     int64 `json:"files"`
	Folders   int64 `json:"folders"`
	Trashed   int64 `json:"trashed"`
	Bytes     int64 `json:"bytes"`
	Queue     int64 `json:"queue"`
	Failed    int64 `json:"failed"`
	OCRFiles  int64 `json:"ocr_files"`
	OCRPages  int64 `json:"ocr_pages"`

	OCRReading List[OCRPage] `json:"ocr_reading"` // pages that are being read

	OCREnabled   bool  `json:"ocr_enabled"`    // false if ocr.enabled is false, or if no server runs
	OCRResumesAt *Time `json:"ocr_resumes_at"` // nil if pages are read now or never
	DiskFree     int64 `json:"disk_free"`
	DiskReserve  int64 `json:"disk_reserve"`
	ReadOnly     bool  `json:"read_only"`
	LastBackupAt *Time `json:"last_backup_at"`

	WritesDenied *string `json:"writes_denied"` // why documents and records can't be added; nil if they can
	StillWorks   *string `json:"still_works"`   // what works although the disk is full or nearly full; nil if it has room
	DocumentRoom int64   `json:"document_room"` // maximum size of a document that is accepted, in bytes; 0 if none is

	LastBackup    *Backup        `json:"last_backup"`
	BackupFailure *BackupFailure `json:"backup_failure"` // since the last successful backup
	NextBackupAt  *Time          `json:"next_backup_at"` // next scheduled backup

	BackupProblem *string `json:"backup_problem,omitempty"` // why the outcome of the last backups is unknown; omitted if it is known

	Search SearchIndex `json:"search"`

	Storage Storage `json:"storage"`

	Memory List[ProcessMemory] `json:"memory"` // of the server and its workers; empty if no server runs

	Damaged List[Damaged] `json:"damaged"` // damaged documents; each of several identical documents is listed
	Scrub   Scrub         `json:"scrub"`

	UpgradeFiles List[UpgradeFile] `json:"upgrade_files"` // beside the database, until the next upgrade
}

// UpgradeFile is a copy of the database from before an upgrade, or an upgraded database that such a copy has replaced.
type UpgradeFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Storage is the disk space of the data directory in bytes, in blocks of 4 KB. Texts counts the text of pages and what
// OCR has read. Other includes the reserve file. Complete is false if counting took too long; the sizes are then minimums.
type Storage struct {
	Documents   int64 `json:"documents"`
	Database    int64 `json:"database"`
	Previews    int64 `json:"previews"`
	Texts       int64 `json:"texts"`
	SearchIndex int64 `json:"search_index"`
	Cache       int64 `json:"cache"`
	Other       int64 `json:"other"`
	Complete    bool  `json:"complete"`
}

// ProcessMemory is the memory of all processes of a type: "server", "render" (workers that open documents), or "ocr". The
// system can free what isn't anonymous at any time, because it is in a file.
type ProcessMemory struct {
	Process        string `json:"process"`
	Count          int    `json:"count"`
	Bytes          int64  `json:"bytes"`
	AnonymousBytes int64  `json:"anonymous_bytes"`
}

// OCRPage is a page of a file. Page numbers start at 1.
type OCRPage struct {
	File uint64 `json:"file"`
	Page int    `json:"page"`
}

// Damaged is a stored document whose bytes are damaged or missing.
type Damaged struct {
	File    uint64 `json:"file"`
	SHA256  string `json:"sha256"`
	Problem string `json:"problem"`
	FoundAt Time   `json:"found_at"`
}

// Scrub is the state of the scrub, which repeatedly reads all stored documents to detect damage.
type Scrub struct {
	EverySeconds int64   `json:"every_seconds"` // 0 means disabled
	StartedAt    *Time   `json:"started_at"`    // start of the current round
	CompletedAt  *Time   `json:"completed_at"`  // end of the last completed round
	Progress     float64 `json:"progress"`      // progress of the current round, from 0 to 1
	AgeSeconds   int64   `json:"age_seconds"`   // since the last completed round, or since the first start if none has completed
	Overdue      bool    `json:"overdue"`       // AgeSeconds is greater than EverySeconds
}

// BackupFailure is a failed backup and the reason.
type BackupFailure struct {
	At     Time   `json:"at"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

// Health is the body of /healthz and /readyz with a status of 200; Status is "ok". A server that is not ready sends a
// 503 with a Failure.
type Health struct {
	Status string `json:"status"`
}

// LimitedHealth is the body of /readyz while the disk is nearly full. Message says which documents are still accepted.
type LimitedHealth struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Checkup is the response of GET /control/doctor: health that only the open vault knows. Clean is false if the last
// run did not shut down cleanly. In that case Unchecked says why memory and disk could not be compared, and DiskError
// what failed ("" if nothing did). MonthBytes is the size of uploads during the last 30 days.
// UncleanStopAt is the first known time at which a server was killed or lost power, nil if never.
type Checkup struct {
	Status        Status `json:"status"`
	NewestEventAt *Time  `json:"newest_event_at"`
	MonthBytes    int64  `json:"month_bytes"`
	UncleanStopAt *Time  `json:"unclean_stop_at"`
	Clean         bool   `json:"clean"`
	Unchecked     string `json:"unchecked"`
	DiskError     string `json:"disk_error"`

	Forwarded List[Forwarded] `json:"forwarded"` // sorted by number of requests in descending order; empty if no server is running
}

// Doctor is the output of `doctor --json`. OK is false if any finding is bad.
type Doctor struct {
	OK       bool            `json:"ok"`
	Findings List[Diagnosis] `json:"findings"`
}

// Diagnosis is one finding of the doctor command. State is "ok", "warn", or "bad". Message describes the
// finding. Action is recommended, or "" if none is needed.
type Diagnosis struct {
	Check   string `json:"check"`
	State   string `json:"state"`
	Message string `json:"message"`
	Action  string `json:"action"`
}

// ProbeOpened is the response of POST /control/probe. Path is a path at the public address that accepts one request
// body, discards it, and responds with a Probe. It is available only while the server is running.
type ProbeOpened struct {
	Path string `json:"path"`
}

// Probe describes how the body of a probe arrived: its size, the milliseconds between its first and last byte, and
// headers. Peer is the address at the other end of the connection, Trusted whether it is a trusted proxy.
type Probe struct {
	Bytes          int64  `json:"bytes"`
	SpanMillis     int64  `json:"span_millis"`
	Peer           string `json:"peer"`
	Trusted        bool   `json:"trusted"`
	Host           string `json:"host"`
	TLS            bool   `json:"tls"`
	ForwardedFor   string `json:"forwarded_for"`
	ForwardedHost  string `json:"forwarded_host"`
	ForwardedProto string `json:"forwarded_proto"`
	Authorization  bool   `json:"authorization"` // whether the header was present; its value is not read
	Link           string `json:"link"`          // scheme and host of links in responses to such requests
}

// Forwarded is an address that has sent forwarding headers that the server could not use, with the number of such
// requests since it started. Untrusted counts those rejected because the address is not a trusted proxy, Unreadable
// those that contain no valid client address. Example is the beginning of the last unreadable header.
type Forwarded struct {
	Peer       string `json:"peer"`
	Untrusted  int64  `json:"untrusted"`
	Unreadable int64  `json:"unreadable"`
	Example    string `json:"example"`
	LastAt     Time   `json:"last_at"`
}

// Certificate is the TLS certificate of the public address. Fingerprint is its SHA-256 in the form that browsers show.
// SelfSigned says that deedkeep created it.
type Certificate struct {
	Names       List[string] `json:"names"`
	NotBefore   Time         `json:"not_before"`
	NotAfter    Time         `json:"not_after"`
	Fingerprint string       `json:"fingerprint"`
	SelfSigned  bool         `json:"self_signed"`
}

// Verify is the result of a verification. Records, Files, Blobs, Bytes, and Events count what was checked. Any finding
// makes OK false. These do not: Orphans, Leftovers, and texts and previews that the server rebuilds because they are
// damaged or from another version. SearchBytes is the size of the search index on the disk, 0 if there is none or if it
// is new. SearchReady and SearchBuilding say whether there is one.
type Verify struct {
	OK                   bool          `json:"ok"`
	Records              int64         `json:"records"`
	Files                int64         `json:"files"`
	Blobs                int64         `json:"blobs"`
	Bytes                int64         `json:"bytes"`
	Events               int64         `json:"events"`
	Orphans              int64         `json:"orphans"`
	Leftovers            int64         `json:"leftovers"`
	SearchBytes          int64         `json:"search_bytes"`
	SearchReady          bool          `json:"search_ready"`
	SearchBuilding       bool          `json:"search_building"`
	Texts                int64         `json:"texts,omitempty"` // documents whose text must be extracted again
	PreviewsOtherVersion int64         `json:"previews_other_version,omitempty"`
	PreviewsDamaged      int64         `json:"previews_damaged,omitempty"`
	Findings             List[Finding] `json:"findings"`
	Repaired             *Repaired     `json:"repaired,omitempty"` // set only after a repair
	Advice               List[Advice]  `json:"advice,omitempty"`   // what to do about the findings
}

// Classes of findings.
const (
	ClassUnreadable = "unreadable" // can't be read, so it may be intact
	ClassDocuments  = "documents"  // documents that are damaged or missing
	ClassDatabase   = "database"   // records, indexes, or the database file
	ClassDerived    = "derived"    // data that the server rebuilds; its finding says how
)

// Advice is what to do about all findings of a class.
type Advice struct {
	Class    string `json:"class"`
	Findings int    `json:"findings"`
	Text     string `json:"text"`
}

// Advise sets the class of each finding and Advice. A finding can keep a class that is already set.
func (v *Verify) Advise() {
	count := map[string]int{}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Class == "" {
			f.Class = classOf(f.Kind)
		}
		count[f.Class]++
	}
	v.Advice = nil
	for _, class := range []string{ClassUnreadable, ClassDocuments, ClassDatabase} {
		if n := count[class]; n > 0 {
			v.Advice = append(v.Advice, Advice{Class: class, Findings: n, Text: v.advice(class)})
		}
	}
}

func classOf(kind string) string {
	switch kind {
	case "file":
		return ClassDocuments
	case "search", "previews", "ocr":
		return ClassDerived
	}
	return ClassDatabase
}

func (v *Verify) advice(class string) string {
	switch {
	case class == ClassUnreadable:
		return "some data can't be read, but it may be intact: run \"deedkeep doctor\" to check the owner of the files (chown), " +
			"check the disk, and verify again; don't restore a backup yet"
	case class == ClassDocuments:
		return "to restore a damaged document: deedkeep restore latest --file ID --from DIR -o FILE; " +
			"then upload FILE, or upload the original again; don't restore the complete backup, because you would lose newer work"
	case v.Repaired == nil:
		return "to rebuild indexes, counters, and the processing queue: deedkeep verify --repair; " +
			"if the database stays damaged, restore the latest good backup to another directory"
	}
	return "the repair can't fix damaged records: restore the latest good backup to another directory"
}

// Repaired counts what a repair did before it verified. Done is false if it changed nothing; a finding says why.
// Findings counts those about records and indexes before the repair. Tasks are processing tasks. Leftovers and Orphans
// were removed.
type Repaired struct {
	Done         bool  `json:"done"`
	Findings     int64 `json:"findings"`
	TasksAdded   int64 `json:"tasks_added"`
	TasksRemoved int64 `json:"tasks_removed"`
	Leftovers    int64 `json:"leftovers"`
	Orphans      int64 `json:"orphans"`
}

// Finding is one instance of damage: its type, the damaged record, blob, or index, and a description. Class is set only
// in a verification.
type Finding struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Problem string `json:"problem"`
	Class   string `json:"class,omitempty"`
}

// Progress is the state of a long operation. Unit specifies what Done and Total count, for example "bytes". Total is
// 0 if it is not known yet.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Unit  string `json:"unit"`
}

// Line is one line of a streamed response of the control socket, which is application/x-ndjson. Exactly one of
// Progress, Result, and Error is set. The last line has Result or Error; a response without such a line was cut off.
// Status is the HTTP status of the error.
//
//	{"progress":{"done":4096,"total":8192,"unit":"bytes"}}
//	{"result":{"ok":true,…}}   or   {"error":"…","status":500}
type Line[T any] struct {
	Progress *Progress `json:"progress,omitempty"`
	Result   *T        `json:"result,omitempty"`
	Error    string    `json:"error,omitempty"`
	Status   int       `json:"status,omitempty"`
}

// ProcessFailure is a file whose processing failed, and the reason. The file is stored and can be downloaded.
type ProcessFailure struct {
	ID       int64  `json:"id"`
	Filename string `json:"filename"`
	Reason   string `json:"reason"`
}

// ProcessRetry is the body of POST /control/process/retry; 0 means all failed files.
type ProcessRetry struct {
	File int64 `json:"file"`
}

// ProcessRetried contains the number of files that were queued again.
type ProcessRetried struct {
	Retried int `json:"retried"`
}

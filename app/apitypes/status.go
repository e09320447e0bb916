package apitypes

// Status answers GET /control/status (COMMANDS.md, "status"). Running is false,
// and StartedAt and Listen are nil, when the command has opened the vault
// itself. Trashed counts what lies in the trash, an abstract with its documents
// as one. Bytes, DiskFree and DiskReserve are in bytes; Queue and Failed count
// files that wait for processing and files whose processing gave up.
type Status struct {
	Running   bool    `json:"running"`
	StartedAt *Time   `json:"started_at"`
	Version   string  `json:"version"`
	Commit    string  `json:"commit"`
	Data      string  `json:"data"`
	Listen    *string `json:"listen"`

	// nil when the public address does not speak https
	Certificate *Certificate `json:"certificate"`

	Abstracts    int64 `json:"abstracts"`
	Orders       int64 `json:"orders"`
	Files        int64 `json:"files"`
	Folders      int64 `json:"folders"`
	Trashed      int64 `json:"trashed"`
	Bytes        int64 `json:"bytes"`
	Queue        int64 `json:"queue"`
	Failed       int64 `json:"failed"`
	DiskFree     int64 `json:"disk_free"`
	DiskReserve  int64 `json:"disk_reserve"`
	ReadOnly     bool  `json:"read_only"`
	LastBackupAt *Time `json:"last_backup_at"`

	WritesDenied *string `json:"writes_denied"` // why no document or record can be added now; nil: they can

	LastBackup    *Backup        `json:"last_backup"`
	BackupFailure *BackupFailure `json:"backup_failure"` // since the last good one
	NextBackupAt  *Time          `json:"next_backup_at"` // by the plan in the settings

	Search SearchIndex `json:"search"`

	Damaged List[Damaged] `json:"damaged"` // documents whose stored bytes are known to be damaged, of equal ones one
	Scrub   Scrub         `json:"scrub"`
}

// Damaged is a stored document whose bytes are damaged or missing.
type Damaged struct {
	File    uint64 `json:"file"`
	SHA256  string `json:"sha256"`
	Problem string `json:"problem"`
	FoundAt Time   `json:"found_at"`
}

// Scrub is how the reading of all stored documents goes.
type Scrub struct {
	EverySeconds int64   `json:"every_seconds"` // 0: it is off
	StartedAt    *Time   `json:"started_at"`    // of the round under way
	CompletedAt  *Time   `json:"completed_at"`  // of the last round
	Progress     float64 `json:"progress"`      // of the round under way, 0 to 1
	AgeSeconds   int64   `json:"age_seconds"`   // since the last round was completed, or since the first was started
	Overdue      bool    `json:"overdue"`       // the age is more than every_seconds
}

// BackupFailure is a backup that was not made, and why.
type BackupFailure struct {
	At     Time   `json:"at"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

// Health is the body of a good /healthz or /readyz: Status is "ok". A server
// that is not ready answers 503 with a Failure.
type Health struct {
	Status string `json:"status"`
}

package apitypes

// BackupCreate is the body of POST /control/backup. To is an absolute directory, or "" for the configured directory.
// Encryption is that of the caller's settings. If the server's settings differ, the request fails with a 409. If it is
// nil, they are not compared. With NewArchive, the backup continues the archive in the directory or starts one, even if
// the last backup went to another directory.
type BackupCreate struct {
	To         string            `json:"to"`
	Encryption *BackupEncryption `json:"encryption,omitempty"`
	NewArchive bool              `json:"new_archive,omitempty"`
}

// BackupEncryption describes how a backup is encrypted: for age recipients or with a passphrase. Passphrase is a
// salted fingerprint of the passphrase. If both are empty, the backup is not encrypted.
type BackupEncryption struct {
	Recipients []string `json:"recipients,omitempty"`
	Passphrase string   `json:"passphrase,omitempty"`
}

// Backup is one snapshot. Bytes is the total size of its documents, counting each document once. BytesWritten is the
// number of bytes that this snapshot added to the directory.
type Backup struct {
	Snapshot     string  `json:"snapshot"`
	CreatedAt    Time    `json:"created_at"`
	To           string  `json:"to"`
	Files        int64   `json:"files"`
	Bytes        int64   `json:"bytes"`
	BytesWritten int64   `json:"bytes_written"`
	Seconds      float64 `json:"seconds"`
	Encrypted    bool    `json:"encrypted"`

	// Missing lists earlier snapshots that vanished from the directory. Omitted if empty.
	Missing []string `json:"missing,omitempty"`
	// Damaged lists documents that are intact in the backup but damaged in the vault. Omitted if empty.
	Damaged []uint64 `json:"damaged,omitempty"`
	// DamagedText lists documents whose OCR text was damaged or couldn't be read. Of damaged text, the backup contains the
	// intact pages, and the server reads the others again. Omitted if empty.
	DamagedText []uint64 `json:"damaged_text,omitempty"`
}

// BackupListed is a snapshot in the list of a backup directory. Problem is the reason why the snapshot can't be read.
// It is omitted if the snapshot is readable.
type BackupListed struct {
	Snapshot  string `json:"snapshot"`
	CreatedAt *Time  `json:"created_at"`
	Files     int64  `json:"files"`
	Bytes     int64  `json:"bytes"`
	Problem   string `json:"problem,omitempty"`

	Name    *string `json:"name"`    // what the backup is for, such as "before-upgrade-0.3.0"; nil for most
	Version *string `json:"version"` // version of deedkeep; nil if unknown
	Schema  int     `json:"schema"`  // schema of the database; 0 if unknown
}

// BackupVerify is the result of reading every byte of a backup directory or of one snapshot. ChecksumsOnly is true if
// nothing could be decrypted because the key is missing. OK is false if there are any findings. Orphans and
// Leftovers don't affect OK.
type BackupVerify struct {
	OK            bool          `json:"ok"`
	Snapshots     int64         `json:"snapshots"`
	Blobs         int64         `json:"blobs"`
	Bytes         int64         `json:"bytes"`
	ChecksumsOnly bool          `json:"checksums_only"`
	Orphans       int64         `json:"orphans"`
	Leftovers     int64         `json:"leftovers"`
	Findings      List[Finding] `json:"findings"`
}

// BackupPrune lists the snapshots and files that were removed from a backup directory, or would be removed if DryRun
// is set.
type BackupPrune struct {
	Kept    List[string] `json:"kept"`
	Removed List[string] `json:"removed"`
	Blobs   int64        `json:"blobs"`
	Bytes   int64        `json:"bytes"`
	DryRun  bool         `json:"dry_run"`
}

// BackupPruned is the body of POST /control/backup/pruned, which records in the audit log that snapshots were removed
// from an absolute directory.
type BackupPruned struct {
	From    string       `json:"from"`
	Removed List[string] `json:"removed"`
}

// RestoreTest is the result of a restore test.
type RestoreTest struct {
	OK       bool   `json:"ok"`
	Snapshot string `json:"snapshot"`
	Summary  string `json:"summary"` // one sentence
	// NotDeleted says what of the restored documents couldn't be deleted. Omitted if everything was.
	NotDeleted string `json:"not_deleted,omitempty"`

	Files   int64   `json:"files"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// Restored is the result of restoring a snapshot into a data directory.
type Restored struct {
	Snapshot  string  `json:"snapshot"`
	CreatedAt Time    `json:"created_at"`
	Data      string  `json:"data"`
	From      string  `json:"from"`    // directory of the backup
	Version   *string `json:"version"` // version of deedkeep that created it; nil if unknown
	Schema    int     `json:"schema"`  // schema of its database
	Files     int64   `json:"files"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
}

// Rollback is the result of restoring the database from before an upgrade. Copy and Kept are names of files in the data
// directory: the copy that is the database again, and the upgraded database. If RolledBack is false, nothing was changed.
type Rollback struct {
	RolledBack  bool   `json:"rolled_back"`
	Copy        string `json:"copy"`
	Kept        string `json:"kept"`
	LostEntries int64  `json:"lost_entries"` // audit log entries since the upgrade
}

// RestoredFile is one restored document.
type RestoredFile struct {
	ID       int64  `json:"id"`
	Filename string `json:"filename"`
	Size     int64  `json:"size"`
	Path     string `json:"path"`
}

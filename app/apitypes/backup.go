package apitypes

// BackupCreate asks POST /control/backup for a snapshot; To is the directory,
// absolute, or "" for that of the settings. Seal is what the settings of whoever asks
// say about encryption: where the vault's own say otherwise, the answer is 409. Without
// it nothing is compared. New goes on with whatever archive is there, or begins one,
// where another was before.
type BackupCreate struct {
	To   string      `json:"to"`
	Seal *BackupSeal `json:"seal,omitempty"`
	New  bool        `json:"new,omitempty"`
}

// BackupSeal is whom a backup is encrypted for: age recipients, or a passphrase, of
// which Passphrase is a salted fingerprint; neither is not encrypted.
type BackupSeal struct {
	Recipients []string `json:"recipients,omitempty"`
	Passphrase string   `json:"passphrase,omitempty"`
}

// Backup is one snapshot (COMMANDS.md, "backup create"). Bytes are those of its
// documents, each once; BytesWritten what this snapshot added to the directory; Sealed
// says whether it is encrypted.
type Backup struct {
	Snapshot     string  `json:"snapshot"`
	CreatedAt    Time    `json:"created_at"`
	To           string  `json:"to"`
	Files        int64   `json:"files"`
	Bytes        int64   `json:"bytes"`
	BytesWritten int64   `json:"bytes_written"`
	Seconds      float64 `json:"seconds"`
	Sealed       bool    `json:"sealed"`

	// Damaged are the documents that are intact in the backup and known to be damaged in the vault; left out when none is.
	Damaged []uint64 `json:"damaged,omitempty"`
}

// BackupListed is a snapshot in the list of a directory. Problem says why it cannot
// be read, and is left out of one that can.
type BackupListed struct {
	Snapshot  string `json:"snapshot"`
	CreatedAt *Time  `json:"created_at"`
	Files     int64  `json:"files"`
	Bytes     int64  `json:"bytes"`
	Problem   string `json:"problem,omitempty"`
}

// BackupVerify is the result of reading every byte of a directory of backups, or of
// one snapshot. Sealed is true where the bytes were held against their sums but, for
// want of a key, what is inside could not be looked at. Orphans and Leftovers are
// notes; every finding makes OK false.
type BackupVerify struct {
	OK        bool          `json:"ok"`
	Snapshots int64         `json:"snapshots"`
	Blobs     int64         `json:"blobs"`
	Bytes     int64         `json:"bytes"`
	Sealed    bool          `json:"sealed"`
	Orphans   int64         `json:"orphans"`
	Leftovers int64         `json:"leftovers"`
	Findings  List[Finding] `json:"findings"`
}

// BackupPrune is what was removed from a directory of backups, or would be.
type BackupPrune struct {
	Kept    List[string] `json:"kept"`
	Removed List[string] `json:"removed"`
	Blobs   int64        `json:"blobs"`
	Bytes   int64        `json:"bytes"`
	DryRun  bool         `json:"dry_run"`
}

// BackupPruned tells POST /control/backup/pruned what was removed, for the log: names of
// snapshots, and the directory, absolute.
type BackupPruned struct {
	From    string       `json:"from"`
	Removed List[string] `json:"removed"`
}

// BackupDrill says whether a snapshot would save the firm.
type BackupDrill struct {
	OK       bool    `json:"ok"`
	Snapshot string  `json:"snapshot"`
	Sentence string  `json:"sentence"`
	Files    int64   `json:"files"`
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
}

// Restored is a snapshot that was brought back into a data directory.
type Restored struct {
	Snapshot  string  `json:"snapshot"`
	CreatedAt Time    `json:"created_at"`
	Data      string  `json:"data"`
	Files     int64   `json:"files"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
}

// RestoredFile is one document that was brought back.
type RestoredFile struct {
	ID       int64  `json:"id"`
	Filename string `json:"filename"`
	Size     int64  `json:"size"`
	Path     string `json:"path"`
}

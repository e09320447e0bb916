package archive

import (
	"fmt"
	"path/filepath"

	"deedkeep/app/durable"
)

// writeFile writes a small file to the archive and makes it durable.
func writeFile(dir, name string, content []byte) error {
	return writeError(durable.WriteFile(filepath.Join(dir, name), content, 0o600))
}

// writeError wraps a write error. The result matches ErrDiskFull if the disk is full.
func writeError(err error) error {
	if err == nil {
		return nil
	}
	if durable.IsDiskFull(err) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return fmt.Errorf("write backup: %w", err)
}

// readme returns the content of README.txt.
func readme(h header) string {
	who := `These backups are NOT encrypted. Anyone who can read this directory can read all
documents (the files in blobs), all names, addresses, and numbers, and the key that signs
download links. Keep it where only the firm's owner has access, or create encrypted
backups: see backup.recipients and backup.passphrase_file in config.example.yaml.`
	how := ""
	if h.Form == formEncrypted {
		who = `These backups are encrypted ` + recipientList(h.For) + `, in the age format (age-encryption.org).
Without the key, others can see only the number of documents, their sizes, and the times of
the backups. If you lose the key, you can't restore these backups. Keep a copy of the key in
a safe place. Don't keep it on this disk, or only on the machine you back up.`
		how = `
The command prompts for the passphrase. Without a terminal, add --passphrase-file FILE
or set DEEDKEEP_BACKUP_PASSPHRASE. If the backup is encrypted for age recipients, add
--identity FILE, the file of the age identity.
`
	}
	return `Backups of deedkeep
===================

` + who + `

To restore them on this or another machine, install deedkeep and run:

    deedkeep restore latest --from THIS-DIRECTORY --data NEW-DIRECTORY
` + how + `
To list the backups: deedkeep backup list --from THIS-DIRECTORY
To verify their checksums: deedkeep backup verify --from THIS-DIRECTORY
To test a restore: deedkeep backup drill --from THIS-DIRECTORY

Don't change, rename, or delete files in this directory. The only exception: you can move
documents that "deedkeep backup verify" reports as damaged to another directory. The next
backup copies them again if they are still stored. You can copy or move the complete
directory. The name of each file in blobs and snapshots ends with its SHA-256 (64
hexadecimal digits), so any tool can verify it.
`
}

package archive

import (
	"fmt"
	"path/filepath"
	"strings"

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
	return fmt.Errorf("write the backup: %w", err)
}

// readme returns the content of README.txt.
func readme(h header) string {
	who := `It is NOT encrypted. Whoever can read this directory can read every document (the
files in blobs), every name, address and number, and the secret that the service
signs its links with. Keep it where only the firm's owner can read it, or make an
encrypted one: see backup.recipients and backup.passphrase_file in
config.example.yaml.`
	how := ""
	if h.Form == formEncrypted {
		who = `It is encrypted in the format of age (age-encryption.org), for ` + strings.Join(h.For, ", ") + `.
Without what opens it, it shows how many documents there are, their sizes, and when
backups were taken, and nothing else. If that is lost, the backup is lost: keep it
in a safe, not on this disk and not only on the machine that is backed up.`
		how = `
The command prompts for the passphrase. Without a terminal, add --passphrase-file FILE
or set DEEDKEEP_BACKUP_PASSPHRASE. If the backup is encrypted for age recipients, add
--identity FILE, the file of the age identity.
`
	}
	return `Backups of a deedkeep vault
===========================

` + who + `

To get the vault back, on this or any other machine, with the program deedkeep:

    deedkeep restore latest --from THIS-DIRECTORY --data NEW-DIRECTORY
` + how + `
To look: deedkeep backup list --from THIS-DIRECTORY
To check every byte: deedkeep backup verify --from THIS-DIRECTORY
To try it out: deedkeep backup drill --from THIS-DIRECTORY

Change, rename and remove nothing here by hand, but for documents that "deedkeep
backup verify" calls damaged: moved out, they are copied again by the next backup
if the vault still has them. The directory as a whole may be copied and moved. Each file in blobs and snapshots has its own SHA-256 in its name
(the last 64 hexadecimal digits), so that any tool can check it.
`
}

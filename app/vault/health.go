package vault

import "context"

// Health is what somebody who runs the vault must know at once.
type Health struct {
	Status  Status
	Backup  BackupHealth
	LowDisk bool // there is little room above the reserve
}

// Health reads counters, the note about backups and the room on the disk: it costs
// next to nothing.
func (v *Vault) Health(ctx context.Context) (h Health, err error) {
	if h.Status, err = v.Status(ctx); err != nil {
		return h, err
	}
	h.LowDisk = v.lowDisk(h.Status)
	h.Backup, err = v.backupHealth(h.Status)
	return h, err
}

func (v *Vault) lowDisk(s Status) bool {
	return s.DiskFree < s.DiskReserve+roomForFiles*uint64(max(v.set.FileSize, 0))
}

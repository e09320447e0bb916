package instance

import "context"

// Health is what somebody who runs the vault must know at once.
type Health struct {
	Status  Status
	Backup  BackupHealth
	LowDisk bool // there is little room above the reserve
}

// Health reads counters, the note about backups and the room on the disk: it costs
// next to nothing.
func (in *Instance) Health(ctx context.Context) (h Health, err error) {
	if h.Status, err = in.Status(ctx); err != nil {
		return h, err
	}
	h.LowDisk = in.lowDisk(h.Status)
	h.Backup, err = in.backupHealth(h.Status)
	return h, err
}

func (in *Instance) lowDisk(s Status) bool {
	return s.DiskFree < s.DiskReserve+lowDiskFiles*uint64(max(in.settings.FileSize, 0))
}

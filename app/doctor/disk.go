package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

func checkFileSystem(c config.Config, fileSystemType func(string) (string, bool, error)) apitypes.Diagnosis {
	kind, isNetwork, err := fileSystemType(c.Data)
	switch {
	case err != nil:
		return warn("file system", "can't determine the file system type: "+err.Error(), "check that the data directory is on a local disk")
	case isNetwork && c.Disk.AllowNetwork:
		return warn("file system", kind+" is a network file system; a power failure can lose documents, and two servers can damage the database",
			"move the data directory to a local disk")
	case isNetwork:
		return bad("file system", kind+" is a network file system, so the server doesn't start",
			"move the data directory to a local disk")
	}
	return ok("file system", kind+", on a local disk")
}

// checkFreeSpace compares the free disk space with the reserve and with the growth of the vault in the last 30 days.
func checkFreeSpace(found *apitypes.Checkup, c config.Config) apitypes.Diagnosis {
	free, reserve := found.Status.DiskFree, found.Status.DiskReserve
	message := fmt.Sprintf("%s free, %s reserved; %s uploaded in the last 30 days", apitypes.HumanSize(free),
		apitypes.HumanSize(reserve), apitypes.HumanSize(found.MonthBytes))
	left := free - reserve
	const action = "free up disk space, or move the data directory to a larger disk"
	switch {
	case left <= 0:
		return bad("free space", message+"; uploads are rejected", action)
	case left < int64(c.Limits.FileSize):
		return bad("free space", message+"; too little for a large document", action)
	case found.MonthBytes > 0 && left < 3*found.MonthBytes:
		return warn("free space", fmt.Sprintf("%s; at this rate, the disk is full in %d days", message, left*30/found.MonthBytes), action)
	case left < 10*int64(c.Limits.FileSize):
		return warn("free space", message, action)
	}
	return ok("free space", message)
}

const (
	minSyncs = 9
	maxSyncs = 500
	syncTime = 50 * time.Millisecond
	slowSync = 100 * time.Millisecond
	// minSync is less than any disk takes to sync. If a sync is faster, the data did not reach the disk.
	minSync = 15 * time.Microsecond
)

// checkSyncSpeed measures how long it takes to write 4 KB and sync them to disk.
func checkSyncSpeed(data string) apitypes.Diagnosis {
	took, err := measureSync(data)
	if err != nil {
		return bad("disk speed", "can't write to the data directory: "+err.Error(), "check the disk and the permissions of the directory")
	}
	return diagnoseSyncSpeed(took)
}

func diagnoseSyncSpeed(took time.Duration) apitypes.Diagnosis {
	message := fmt.Sprintf("a small synced write takes %s", roundDuration(took))
	switch {
	case took >= slowSync:
		return warn("disk speed", message+"; each upload needs several",
			"use a faster disk (SSD), or check what else uses this disk")
	case took < minSync:
		return warn("disk speed", message+"; sync returned too fast for a real disk; a power failure may lose acknowledged data",
			"don't keep the data directory on a RAM disk; on a virtual machine, turn off write caching for the virtual disk")
	}
	return ok("disk speed", message)
}

func roundDuration(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}

func measureSync(data string) (median time.Duration, err error) {
	dir := filepath.Join(data, "tmp")
	if _, err := os.Stat(dir); err != nil {
		dir = data // the data directory does not contain a vault yet
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		dir = os.TempDir()
	}
	file, err := os.CreateTemp(dir, "doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	block := make([]byte, 4096)
	var all []time.Duration
	started := time.Now()
	for i := 0; i < minSyncs || time.Since(started) < syncTime && i < maxSyncs; i++ {
		block[0] = byte(i)
		begun := time.Now()
		if _, err := file.Write(block); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	if median = all[len(all)/2]; median == 0 { // the clock's resolution is too low to measure one sync
		median = time.Since(started) / time.Duration(len(all))
	}
	return median, nil
}

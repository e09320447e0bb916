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
		return warn("file system", "its kind cannot be told: "+err.Error(), "see whether the data directory is on a disk of this machine")
	case isNetwork && c.Disk.AllowNetwork:
		return warn("file system", kind+" is a network file system: a power cut can lose documents, and two servers can damage the vault",
			"move the data directory to a disk of this machine")
	case isNetwork:
		return bad("file system", kind+" is a network file system, on which serve refuses to start",
			"move the data directory to a disk of this machine")
	}
	return ok("file system", kind+", of this machine")
}

// checkFreeSpace compares the free disk space with the reserve and with the growth of the vault in the last 30 days.
func checkFreeSpace(found *apitypes.Checkup, c config.Config) apitypes.Diagnosis {
	free, reserve := found.Status.DiskFree, found.Status.DiskReserve
	says := fmt.Sprintf("%s free, %s kept in reserve; %s came in within 30 days", apitypes.HumanSize(free),
		apitypes.HumanSize(reserve), apitypes.HumanSize(found.MonthBytes))
	left := free - reserve
	const do = "make room, or move the data directory to a larger disk"
	switch {
	case left <= 0:
		return bad("disk room", says+": uploads are refused", do)
	case left < int64(c.Limits.FileSize):
		return bad("disk room", says+": the next large document is refused", do)
	case found.MonthBytes > 0 && left < 3*found.MonthBytes:
		return warn("disk room", fmt.Sprintf("%s: at this pace it is full in %d days", says, left*30/found.MonthBytes), do)
	case left < 10*int64(c.Limits.FileSize):
		return warn("disk room", says, do)
	}
	return ok("disk room", says)
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
		return bad("speed of sync", "nothing can be written in the data directory: "+err.Error(), "see to its permissions and its disk")
	}
	return diagnoseSyncSpeed(took)
}

func diagnoseSyncSpeed(took time.Duration) apitypes.Diagnosis {
	says := fmt.Sprintf("a small write is on the disk after %s", roundDuration(took))
	switch {
	case took >= slowSync:
		return warn("speed of sync", says+": every upload waits for a few of them",
			"use a faster disk (an SSD), or see what else keeps this one busy")
	case took < minSync:
		return warn("speed of sync", says+": that is quicker than any disk, so a power cut may lose what was acknowledged",
			"do not keep the vault in memory; where a virtual machine's disk promises more than it does, switch its write cache off")
	}
	return ok("speed of sync", says)
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

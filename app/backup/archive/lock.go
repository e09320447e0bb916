package archive

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// An archive has two operating system locks, which end with the process that holds them.
// A writer locks "lock". Readers share a lock on "reading", and a writer locks it
// exclusively to remove files. On a file system without locks, a writer uses a lease, and
// readers don't lock:
//
//	lock.lease    "<32 hex digits of the holder> <Unix seconds of its expiry>\n", rewritten every minute
const (
	lockName    = "lock"
	readingName = "reading"
	leaseName   = "lock.lease"

	maxLeaseSize       = 4 << 10
	leaseDuration      = 10 * time.Minute
	leaseRenewInterval = time.Minute
)

// lockForWriting keeps other writers out until release is called.
func (a *Archive) lockForWriting() (release func(), err error) {
	if err := checkFolders(a.dir); err != nil {
		return nil, err
	}
	release, err = a.lock(lockName, (*flock.Flock).TryLock, a.acquireLease)
	if err != nil {
		return nil, err
	}
	// Create the file "reading" now, so that the writer owns it. The writer needs it to
	// remove files, but can't open it if a reader that runs as root created it.
	switch done, err := a.LockForReading(); {
	case err == nil:
		done()
	case !errors.Is(err, ErrLocked): // the file exists
		release()
		return nil, err
	}
	return release, nil
}

// LockForReading prevents the removal of files until release is called. It does nothing
// for a directory on a read-only medium.
func (a *Archive) LockForReading() (release func(), err error) {
	return a.lock(readingName, (*flock.Flock).TryRLock, noLock)
}

// lockForRemoval keeps readers out until release is called.
func (a *Archive) lockForRemoval() (release func(), err error) {
	return a.lock(readingName, (*flock.Flock).TryLock, noLock)
}

func noLock() (func(), error) { return func() {}, nil }

func (a *Archive) lock(name string, tryLock func(*flock.Flock) (bool, error), fallback func() (func(), error)) (func(), error) {
	// Opening a pipe could block, and opening a link could create a file elsewhere.
	if err := checkRegularOrMissing(a.path(name)); err != nil {
		return nil, err
	}
	l := flock.New(a.path(name))
	acquired, err := tryLock(l)
	switch {
	case err == nil && acquired:
		return func() { _ = l.Close() }, nil // the lock ends with the process even if this fails
	case err == nil:
		_ = l.Close()
		return nil, fmt.Errorf("%s: %w by another backup command", a.dir, ErrLocked)
	case name == readingName && (errors.Is(err, fs.ErrPermission) || isReadOnly(err)), isLockUnsupported(err):
		_ = l.Close()
		return fallback()
	}
	return nil, fmt.Errorf("lock backup directory: %w", err)
}

// acquireLease acquires a lease, which replaces the write lock on a file system without
// locks.
func (a *Archive) acquireLease() (release func(), err error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	holder, path := hex.EncodeToString(id[:]), a.path(leaseName)
	if err := a.removeExpiredLease(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w by another backup command", a.dir, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("lock backup directory: %w", err)
	}
	if err := errors.Join(a.writeLease(f, holder), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("lock backup directory: %w", err), os.Remove(path))
	}
	ctx, stop := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() { a.renewLease(ctx, path, holder) })
	return sync.OnceFunc(func() {
		stop()
		renewing.Wait()
		_ = os.Remove(path) // the lease expires after ten minutes even if this fails
	}), nil
}

func (a *Archive) writeLease(f *os.File, holder string) error {
	_, err := fmt.Fprintf(f, "%s %d\n", holder, a.opts.Now().Add(leaseDuration).Unix())
	return errors.Join(err, f.Sync())
}

func (a *Archive) renewLease(ctx context.Context, path, holder string) {
	tick := time.NewTicker(leaseRenewInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// If a renewal fails, the next nine still precede the expiry of the lease.
		if checkRegularOrMissing(path) != nil {
			continue
		}
		if f, err := os.OpenFile(path, os.O_WRONLY, 0o600); err == nil {
			_ = errors.Join(a.writeLease(f, holder), f.Close())
		}
	}
}

// removeExpiredLease removes an expired lease. It returns ErrLocked if the lease is still
// valid.
func (a *Archive) removeExpiredLease(path string) error {
	raw, err := readLimited(path, maxLeaseSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock backup directory: %w", err)
	}
	words := strings.Fields(string(raw))
	if len(words) == 2 {
		until, err := strconv.ParseInt(words[1], 10, 64)
		if err == nil && a.opts.Now().Unix() < until && until-a.opts.Now().Unix() <= 2*int64(leaseDuration/time.Second) {
			return fmt.Errorf("%s: %w by another backup command, or one was interrupted less than ten minutes ago", a.dir, ErrLocked)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lock backup directory: %w", err)
	}
	return nil
}

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

// Two locks of the operating system, which end with the process that holds them:
// "lock" is held by the one that writes, "reading" is shared by those who read and
// held alone by the one that removes. Where the file system has no locks, a writer
// keeps a lease instead, and readers go unguarded:
//
//	lock.lease    "<32 hex digits of the holder> <Unix seconds at which it is void>\n", written anew every minute
const (
	lockName    = "lock"
	readingName = "reading"
	leaseName   = "lock.lease"

	leaseMost  = 4 << 10
	leaseTime  = 10 * time.Minute
	leaseRenew = time.Minute
)

// lockWriting keeps other writers out until release.
func (a *Archive) lockWriting() (release func(), err error) {
	if err := ownFolders(a.dir); err != nil {
		return nil, err
	}
	release, err = a.lock(lockName, (*flock.Flock).TryLock, a.lease)
	if err != nil {
		return nil, err
	}
	// The file "reading" must belong to the one that writes, who locks it to remove. A
	// reader may be root, whose file the server couldn't open.
	switch done, err := a.LockForReading(); {
	case err == nil:
		done()
	case !errors.Is(err, ErrLocked): // then it exists
		release()
		return nil, err
	}
	return release, nil
}

// LockForReading keeps those out who remove, until release. A directory that cannot be
// written to, such as a disc, needs no lock.
func (a *Archive) LockForReading() (release func(), err error) {
	return a.lock(readingName, (*flock.Flock).TryRLock, unguarded)
}

// lockRemoving keeps readers out until release.
func (a *Archive) lockRemoving() (release func(), err error) {
	return a.lock(readingName, (*flock.Flock).TryLock, unguarded)
}

func unguarded() (func(), error) { return func() {}, nil }

func (a *Archive) lock(name string, try func(*flock.Flock) (bool, error), without func() (func(), error)) (func(), error) {
	// Opening what somebody put in its place could wait for ever, or make a file elsewhere.
	if err := regularOrAbsent(a.path(name)); err != nil {
		return nil, err
	}
	l := flock.New(a.path(name))
	got, err := try(l)
	switch {
	case err == nil && got:
		return func() { _ = l.Close() }, nil // a lock that cannot be given back ends with the process
	case err == nil:
		_ = l.Close()
		return nil, fmt.Errorf("%s: %w: another backup command works on it", a.dir, ErrLocked)
	case name == readingName && (errors.Is(err, fs.ErrPermission) || isReadOnly(err)), isNoLocks(err):
		_ = l.Close()
		return without()
	}
	return nil, fmt.Errorf("lock the backup: %w", err)
}

// lease is the lock of a file system that has none.
func (a *Archive) lease() (release func(), err error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	holder, path := hex.EncodeToString(id[:]), a.path(leaseName)
	if err := a.clearLease(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w: another backup command works on it", a.dir, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the backup: %w", err)
	}
	if err := errors.Join(a.writeLease(f, holder), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the backup: %w", err), os.Remove(path))
	}
	ctx, stop := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() { a.renewLease(ctx, path, holder) })
	return sync.OnceFunc(func() {
		stop()
		renewing.Wait()
		_ = os.Remove(path) // what stays is void in ten minutes
	}), nil
}

func (a *Archive) writeLease(f *os.File, holder string) error {
	_, err := fmt.Fprintf(f, "%s %d\n", holder, a.opts.Now().Add(leaseTime).Unix())
	return errors.Join(err, f.Sync())
}

func (a *Archive) renewLease(ctx context.Context, path, holder string) {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// A renewal that fails leaves nine more to come before the lease is void.
		if regularOrAbsent(path) != nil {
			continue
		}
		if f, err := os.OpenFile(path, os.O_WRONLY, 0o600); err == nil {
			_ = errors.Join(a.writeLease(f, holder), f.Close())
		}
	}
}

// clearLease removes a lease that is void.
func (a *Archive) clearLease(path string) error {
	raw, err := readSmall(path, leaseMost)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock the backup: %w", err)
	}
	words := strings.Fields(string(raw))
	if len(words) == 2 {
		until, err := strconv.ParseInt(words[1], 10, 64)
		if err == nil && a.opts.Now().Unix() < until && until-a.opts.Now().Unix() <= 2*int64(leaseTime/time.Second) {
			return fmt.Errorf("%s: %w: another backup command works on it, or was cut off less than ten minutes ago", a.dir, ErrLocked)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lock the backup: %w", err)
	}
	return nil
}

package txn_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// The reserve file has the configured size while the server runs. The subtests run one
// after the other and change the configured size for the same data directory.
func TestReserveFileSize(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	path := filepath.Join(opts.Dir, "spare")
	fileSize := func() int64 {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			return -1
		}
		vaulttest.NoError(t, err)
		return info.Size()
	}
	for _, tt := range []struct {
		name string
		size int64
		want int64 // -1 if there must be no file
	}{
		{"disabled", 0, -1},
		{"created", 300_000, 300_000},
		{"larger", 500_000, 500_000},
		{"smaller", 100_000, 100_000},
		{"larger than the disk", 1 << 60, 100_000},
		{"disabled again", 0, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts.Settings.Spare = tt.size
			v, err := instance.Open(t.Context(), opts)
			vaulttest.NoError(t, err)
			v.Start(1 << 40)
			vaulttest.Close(t, v)
			if got := fileSize(); got != tt.want {
				t.Errorf("size of the reserve file = %d, want %d", got, tt.want)
			}
		})
	}
}

// If the disk is full, UpdateFromReserve truncates the reserve file, tries again, and
// refills the file.
func TestUpdateFromReserve(t *testing.T) {
	t.Parallel()
	full := &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}
	for _, tt := range []struct {
		name     string
		reserve  int64
		err      error // error of the first attempt
		attempts int
		fails    bool
	}{
		{"free space", 100_000, nil, 1, false},
		{"disk full", 100_000, full, 2, false},
		{"disk full without a reserve file", 0, full, 1, true},
		{"other error", 100_000, errs.RecordNotFound("file", 1), 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Spare = tt.reserve })
			v.Start(1 << 40)
			attempts, sizeAtRetry := 0, int64(-1)
			err := v.UpdateFromReserve(t.Context(), vaulttest.Operator, func(*store.Tx) error {
				if attempts++; attempts == 1 {
					return tt.err
				}
				info, err := os.Stat(filepath.Join(opts.Dir, "spare"))
				vaulttest.NoError(t, err)
				sizeAtRetry = info.Size()
				return nil
			}, nil)
			if attempts != tt.attempts || (err != nil) != tt.fails || attempts == 2 && sizeAtRetry != 0 {
				t.Errorf("UpdateFromReserve(): %d attempts, reserve file of %d bytes at the second, error %v; "+
					"want %d attempts, 0 bytes, and an error: %v", attempts, sizeAtRetry, err, tt.attempts, tt.fails)
			}
			if info, err := os.Stat(filepath.Join(opts.Dir, "spare")); tt.reserve > 0 && (err != nil || info.Size() != tt.reserve) {
				t.Errorf("reserve file after the update: %+v, %v; want %d bytes", info, err, tt.reserve)
			}
		})
	}
}

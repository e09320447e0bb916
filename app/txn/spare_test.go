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

// The spare file is there while a server runs, as large as the settings say.
func TestSpareFile(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	path := filepath.Join(opts.Dir, "spare")
	size := func() int64 {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			return -1
		}
		vaulttest.NoError(t, err)
		return info.Size()
	}
	for _, row := range []struct {
		name string
		size int64
		want int64
	}{
		{"none", 0, -1}, {"made", 300_000, 300_000}, {"larger", 500_000, 500_000}, {"smaller", 100_000, 100_000},
		{"more than the disk has", 1 << 60, 100_000}, {"none any more", 0, -1},
	} {
		opts.Settings.Spare = row.size
		v, err := instance.Open(t.Context(), opts)
		vaulttest.NoError(t, err)
		v.Start(1 << 40)
		vaulttest.Close(t, v)
		if got := size(); got != row.want {
			t.Errorf("%s: %d bytes, want %d", row.name, got, row.want)
		}
	}
}

// What makes room gets the spare file's space on a full disk; what grows does not.
func TestSpareFileIsForWhatMakesRoom(t *testing.T) {
	t.Parallel()
	full := &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}
	for _, row := range []struct {
		name  string
		spare int64
		err   error // of the first try
		tries int
		fails bool
	}{
		{"a disk with room", 100_000, nil, 1, false}, {"a full disk", 100_000, full, 2, false}, {"a full disk without a spare file", 0, full, 1, true},
		{"another failure", 100_000, errs.RecordNotFound("file", 1), 1, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Spare = row.spare })
			v.Start(1 << 40)
			tries, held := 0, int64(-1)
			err := v.UpdateFromReserve(t.Context(), vaulttest.Operator, func(*store.Tx) error {
				if tries++; tries == 1 {
					return row.err
				}
				info, err := os.Stat(filepath.Join(opts.Dir, "spare"))
				vaulttest.NoError(t, err)
				held = info.Size()
				return nil
			}, nil)
			if tries != row.tries || (err != nil) != row.fails || tries == 2 && held != 0 {
				t.Errorf("%d tries, the spare file with %d bytes at the second, %v", tries, held, err)
			}
			if info, err := os.Stat(filepath.Join(opts.Dir, "spare")); row.spare > 0 && (err != nil || info.Size() != row.spare) {
				t.Errorf("afterward %+v, %v, want %d bytes", info, err, row.spare)
			}
		})
	}
}

package store

import (
	"context"
	"errors"
	"fmt"
	"testing"

	berrors "go.etcd.io/bbolt/errors"
)

func TestDamage(t *testing.T) {
	caught := recoverPanic(func() error { panic("page 3") })
	for name, row := range map[string]struct {
		err      error
		sentence string
	}{
		"a caught panic":       {fmt.Errorf("walk: %w", caught), "page 3"},
		"no database":          {fmt.Errorf("open x: %w", berrors.ErrInvalid), "invalid database"},
		"a wrong checksum":     {fmt.Errorf("open x: %w", berrors.ErrChecksum), "checksum error"},
		"pages at the opening": {fmt.Errorf("open x: %w: %v", errBrokenPages, "page 7"), "its pages cannot be read"},
		"another file":         {fmt.Errorf("%w: it has no schema", errNotVault), "this file is no vault"},
		"nothing":              {nil, ""},
		"an interruption":      {context.Canceled, ""},
		"a lock":               {berrors.ErrTimeout, ""},
		"anything else":        {errors.New("no"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			sentence, damaged := DescribeDamage(row.err)
			if sentence != row.sentence || damaged != (row.sentence != "") {
				t.Errorf("%q, %v", sentence, damaged)
			}
		})
	}
}

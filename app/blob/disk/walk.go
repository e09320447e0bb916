package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deedkeep/app/blob"
)

// Walk calls visit for every file in a directory of the form ab/ab12…, in the order of
// digests. It calls stray, which may be nil, with the path of anything else.
func Walk(ctx context.Context, dir string, visit func(blob.Entry) error, stray func(path string) error) error {
	if stray == nil {
		stray = func(string) error { return nil }
	}
	top, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range top {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && isShard(e.Name()) {
			err = walkShard(ctx, path, visit, stray)
		} else {
			err = stray(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isShard(name string) bool {
	return len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}

func walkShard(ctx context.Context, dir string, visit func(blob.Entry) error, stray func(string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		d, err := blob.ParseDigest(e.Name())
		if err != nil || e.Name()[:2] != filepath.Base(dir) || !e.Type().IsRegular() {
			if err := stray(path); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept since the directory was read
		}
		if err != nil {
			return err
		}
		if err := visit(blob.Entry{Digest: d, Size: info.Size()}); err != nil {
			return err
		}
	}
	return nil
}

//go:build !windows

package blobstore

import (
	"os"

	"deedkeep/app/durable"
)

func (osFiles) Rename(from, to string) error { return durable.Rename(from, to) }

func (osFiles) Remove(path string) error { return os.Remove(path) }

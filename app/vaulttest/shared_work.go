package vaulttest

import (
	"context"

	"deedkeep/app/document"
)

func DamagedDocument(context.Context, ReaderCall) error { return document.ErrDamaged }

package vaulttest

import (
	"bytes"
)

func TextOfSize(n int) []byte { return bytes.Repeat([]byte("a"), n) }

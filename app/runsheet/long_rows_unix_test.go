//go:build unix

package runsheet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the CPU time of this process. Unlike the time that passes, it doesn't depend on the load of the machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatalf("get CPU time: %v", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Rows with very many cells are read quickly, too.
func TestReadLongRows(t *testing.T) {
	const n = 1_000_000
	for name, file := range map[string]string{
		"a name that looks like cells": "Type,Grantors\nMortgage,\"" + strings.Repeat("a;", n) + "\"\n",
		"the same title":               strings.Repeat("x,", n/2) + strings.Repeat("type,", n/2) + "book\n",
		"separators":                   "type,book\n" + strings.Repeat(",", n),
	} {
		t.Run(name, func(t *testing.T) {
			start := cpuTime(t)
			if _, err := ReadCSV([]byte(file), limits); err != nil && !errors.Is(err, ErrNoHeader) {
				t.Errorf("ReadCSV: %v", err)
			}
			if took := cpuTime(t) - start; took > 20*time.Second {
				t.Errorf("ReadCSV took %v of CPU time, want at most 20s", took)
			}
		})
	}
}

package cmd

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// When some commands read the complete vault while others rebuild parts of it, they wait or
// report that the vault is busy. They never report damage, with or without a server.
func TestConcurrentCommands(t *testing.T) {
	for _, row := range []struct {
		name   string
		served bool
		tries  int
		codes  []int
	}{
		{"with a server", true, 3, []int{exitDone}},
		{"without a server", false, 3, []int{exitDone, exitLocked}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, to := shortDataDir(t), t.TempDir()
			if _, err := seedVault(dir); err != nil {
				t.Fatalf("create vault: %v", err)
			}
			if row.served {
				startServer(t, dir)
			}
			for range row.tries {
				var commands sync.WaitGroup
				for _, args := range []string{"verify --repair", "verify", "reindex", "backup create --to " + to} {
					commands.Go(func() {
						got := runCLI(t.Context(), t, nil, append(strings.Fields(args), "--data", dir)...)
						if !slices.Contains(row.codes, got.code) {
							t.Errorf("%s: got %+v, want one of the exit codes %v", args, got, row.codes)
						}
					})
				}
				commands.Wait()
			}
		})
	}
}

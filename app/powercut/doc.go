// Package powercut tests that acknowledged changes survive power failures. It contains only tests, which need Linux and
// root.
//
// TestReplay records every block write and flush of a file system while the server handles uploads, abstracts, orders,
// changes, deletions, OCR, a backup, a purge, and a sweep. It then rebuilds the disk at positions of the recording, with
// some of the writes since the last flush missing or torn. For each of these states, it checks that the vault opens,
// passes verification, and has all acknowledged changes. TestShutdown makes the kernel shut down the mounted file
// system under load. TestMutants runs servers that omit a sync and checks that this test method detects the loss.
//
//	go test -tags root ./app/powercut                                  500 states, 20 shutdowns, the mutants
//	DEEDKEEP_TEST_STATES=20000 go test -tags root -timeout 0 -v -run Replay ./app/powercut
//	DEEDKEEP_TEST_CYCLES=500 go test -tags root -timeout 0 -v -run Shutdown ./app/powercut
//
// Set DEEDKEEP_TEST_SEED to the seed of a failed run to repeat its random choices. The timing of its requests can't be
// repeated.
package powercut

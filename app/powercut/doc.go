// Package powercut checks that what the server acknowledged outlives power failures. It
// holds no code that is shipped, and its tests need Linux and root.
//
// TestReplay records every block write and flush of a file system while the server
// works: uploads, abstracts, orders, changes, deletions, a backup, a purge, and a
// sweep. It then rebuilds the disk at moments of the recording, with some of the
// writes since the last flush left out or torn, and looks whether the vault opens and
// verifies, and has everything that was acknowledged by then. TestShutdown makes the
// kernel give up the mounted file system under load. TestMutants leaves out a sync,
// which TestReplay must notice.
//
//	go test -tags root ./app/powercut                                  500 states, 20 shutdowns, the mutants
//	DEEDKEEP_TEST_STATES=20000 go test -tags root -timeout 0 -v -run Replay ./app/powercut
//	DEEDKEEP_TEST_CYCLES=500 go test -tags root -timeout 0 -v -run Shutdown ./app/powercut
//
// DEEDKEEP_TEST_SEED repeats the choices of a run that failed, not the timing of its load.
package powercut

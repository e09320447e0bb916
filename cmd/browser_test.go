//go:build browser

// Real-browser tests: Debian's Chromium, driven over its own protocol, uses the real
// program as people do.
//
//	go test -tags browser -run 'TestBrowser|TestScreens' ./cmd
//
//	DEEDKEEP_SCREENSHOTS   a folder for pictures of every page
package cmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// Each scene has a vault and a tab of its own.
func TestBrowser(t *testing.T) {
	on := newBrowserEnv(t)
	for _, scene := range []struct {
		name string
		play func(*testing.T, *browserEnv)
	}{
		{"the watch sees", testMonitor},
		{"barriers are found", testAccessibilityChecks},
		{"scripts are off", testScriptsOff},
		{"first run", testFirstRun},
		{"first pages are small", testFirstPageSize},
		{"reading", testReading},
		{"reading goes on", testResumeReading},
		{"an abstract is worked on", testEditAbstract},
		{"a folder is worked on", testEditFolder},
		{"two edit one card", testEditConflict},
		{"an order is entered", testEnterOrder},
		{"a template is changed", testEditTemplate},
		{"values of types are entered", testTypedFields},
		{"leaving is warned of", testLeaveWarning},
		{"invited, with a second factor", testInviteWithTwoFactor},
		{"a key is made and revoked", testCreateAndRevokeKey},
		{"docs are tried", testAPIDocs},
		{"nothing uploaded runs", testMaliciousUploads},
		{"twelve dropped", testDropDocuments},
		{"folders dropped", testDropFolder},
		{"progress moves", testUploadProgress},
		{"server stops in mid-file", testServerStopsDuringUpload},
		{"without scripts", testWithoutScripts},
		{"keyboard only", testKeyboardOnly},
		{"finding", testFind},
		{"finding in a hurry", testFindRaces},
	} {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			scene.play(t, on)
		})
	}
}

// browserEnv is what scenes share: a browser that runs, and the program, built.
type browserEnv struct {
	browser  context.Context
	dir      string
	build    sync.Once
	program  string
	buildErr string
}

func newBrowserEnv(t *testing.T) *browserEnv {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("headless", "new"),
		chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=America/New_York", "LANGUAGE=en_US"))
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(release)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &browserEnv{browser: ctx, dir: t.TempDir()}
}

// binary gives the path of the program, which is built when it is first asked for.
func (on *browserEnv) binary(t *testing.T) string {
	t.Helper()
	on.build.Do(func() {
		on.program = filepath.Join(on.dir, "deedkeep.exe")
		build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", on.program, "deedkeep")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			on.buildErr = err.Error() + "\n" + string(out)
		}
	})
	if on.buildErr != "" {
		t.Fatalf("build: %s", on.buildErr)
	}
	return on.program
}

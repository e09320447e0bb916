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
	on := openBench(t)
	for _, scene := range []struct {
		name string
		play func(*testing.T, *bench)
	}{
		{"the watch sees", watchSees},
		{"barriers are found", barriersAreFound},
		{"scripts are off", scriptsAreOff},
		{"first run", firstRun},
		{"first pages are small", firstPagesAreSmall},
		{"reading", reading},
		{"reading goes on", readingGoesOn},
		{"an abstract is worked on", abstractIsWorkedOn},
		{"a folder is worked on", folderIsWorkedOn},
		{"two edit one card", twoEditOneCard},
		{"an order is entered", orderIsEntered},
		{"a template is changed", templateIsChanged},
		{"values of types are entered", valuesOfTypesAreEntered},
		{"leaving is warned of", leavingIsWarnedOf},
		{"invited, with a second factor", invitedWithSecondFactor},
		{"a key is made and revoked", keyIsMadeAndRevoked},
		{"docs are tried", docsAreTried},
		{"nothing uploaded runs", nothingUploadedRuns},
		{"twelve dropped", twelveDropped},
		{"folders dropped", foldersDropped},
		{"progress moves", progressMoves},
		{"server stops in mid-file", serverStopsInMidFile},
		{"without scripts", withoutScripts},
		{"keyboard only", keyboardOnly},
		{"finding", finding},
		{"finding in a hurry", hurriedFinding},
	} {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			scene.play(t, on)
		})
	}
}

// bench is what scenes share: a browser that runs, and the program, built.
type bench struct {
	browser context.Context
	folder  string
	build   sync.Once
	program string
	failure string
}

func openBench(t *testing.T) *bench {
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
	return &bench{browser: ctx, folder: t.TempDir()}
}

// built gives the path of the program, which is built when it is first asked for.
func (on *bench) built(t *testing.T) string {
	t.Helper()
	on.build.Do(func() {
		on.program = filepath.Join(on.folder, "deedkeep.exe")
		build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", on.program, "deedkeep")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			on.failure = err.Error() + "\n" + string(out)
		}
	})
	if on.failure != "" {
		t.Fatalf("build: %s", on.failure)
	}
	return on.program
}

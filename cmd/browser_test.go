//go:build browser

// These tests control Chromium over the DevTools protocol and use a running server.
//
//	go test -tags browser -run 'TestBrowser|TestScreens' ./cmd
//
//	DEEDKEEP_SCREENSHOTS   a directory for screenshots of every page
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

// Each subtest uses its own server and browser tab.
func TestBrowser(t *testing.T) {
	env := newBrowserEnv(t)
	for _, row := range []struct {
		name string
		test func(*testing.T, *browserEnv)
	}{
		{"monitor", testMonitor},
		{"accessibility checks", testAccessibilityChecks},
		{"scripts off", testScriptsOff},
		{"first run", testFirstRun},
		{"restart", testRestart},
		{"setup by keyboard", testSetupByKeyboard},
		{"settings without scripts", testSettingsWithoutScripts},
		{"first page size", testFirstPageSize},
		{"reading", testReading},
		{"resume reading", testResumeReading},
		{"viewer panel", testViewerPanel},
		{"viewer suggestions", testViewerSuggestions},
		{"OCR", testOCR},
		{"viewer panel keys", testViewerPanelKeys},
		{"viewer panel problems", testViewerPanelProblems},
		{"viewer panel page keys", testViewerPanelPageKeys},
		{"viewer panel undo", testViewerPanelUndo},
		{"viewer panel keeps", testViewerPanelKeeps},
		{"viewer panel scrolls", testViewerPanelScrolls},
		{"viewer panel packet", testViewerPanelPacket},
		{"viewer panel slow save", testViewerPanelSlowSave},
		{"viewer panel signed out", testViewerPanelSignedOut},
		{"viewer panel reading", testViewerPanelReading},
		{"viewer narrow", testViewerNarrow},
		{"side by side", testSideBySide},
		{"side by side without scripts", testSideBySideWithoutScripts},
		{"edit abstract", testEditAbstract},
		{"edit folder", testEditFolder},
		{"move to abstracts", testMoveToAbstracts},
		{"edit conflict", testEditConflict},
		{"title work", testTitleWork},
		{"phrases", testPhrases},
		{"certificate on paper", testCertificateOnPaper},
		{"void certificate", testVoidCertificate},
		{"notes", testNotes},
		{"highlights", testHighlights},
		{"search", testSearch},
		{"runsheet by keyboard", testRunsheetByKeyboard},
		{"runsheet conflict", testRunsheetConflict},
		{"runsheet conflict choices", testRunsheetConflictChoices},
		{"runsheet undo", testRunsheetUndo},
		{"undo on every page", testUndoOnEveryPage},
		{"undo in the panel", testUndoInPanel},
		{"viewer panel place", testViewerPanelPlace},
		{"runsheet sorting", testRunsheetSorting},
		{"runsheet questions", testRunsheetQuestions},
		{"runsheet places", testRunsheetPlaces},
		{"runsheet layout", testRunsheetLayout},
		{"duplicates", testDuplicates},
		{"long runsheet", testLongRunsheet},
		{"import runsheet", testImportRunsheet},
		{"paste many rows", testPasteManyRows},
		{"enter order", testEnterOrder},
		{"change many orders", testChangeManyOrders},
		{"take orders", testTakeOrders},
		{"save view", testSaveView},
		{"live pages", testLivePages},
		{"office day", testOfficeDay},
		{"edit template", testEditTemplate},
		{"typed fields", testTypedFields},
		{"leave warning", testLeaveWarning},
		{"invite with two-factor authentication", testInviteWithTwoFactor},
		{"create and revoke key", testCreateAndRevokeKey},
		{"API docs", testAPIDocs},
		{"malicious uploads", testMaliciousUploads},
		{"drop documents", testDropDocuments},
		{"drop folder", testDropFolder},
		{"upload progress", testUploadProgress},
		{"server stops during upload", testServerStopsDuringUpload},
		{"without scripts", testWithoutScripts},
		{"keyboard only", testKeyboardOnly},
		{"find", testFind},
		{"find races", testFindRaces},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.test(t, env)
		})
	}
}

// browserEnv is shared by the subtests. It contains a running browser and the deedkeep
// binary.
type browserEnv struct {
	browser  context.Context
	dir      string
	build    sync.Once
	program  string // path; set by binary
	buildErr string
}

// newBrowserEnv starts a browser, which is closed when the test ends.
func newBrowserEnv(t *testing.T) *browserEnv {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("find Chromium: %v", err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("headless", "new"),
		chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=America/New_York", "LANGUAGE=en_US"))
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(release)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return &browserEnv{browser: ctx, dir: t.TempDir()}
}

// binary returns the path of the deedkeep binary. The first call builds it.
func (env *browserEnv) binary(t *testing.T) string {
	t.Helper()
	env.build.Do(func() {
		env.program = filepath.Join(env.dir, "deedkeep.exe")
		build := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-o", env.program, "deedkeep")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			env.buildErr = err.Error() + "\n" + string(out)
		}
	})
	if env.buildErr != "" {
		t.Fatalf("build: %s", env.buildErr)
	}
	return env.program
}

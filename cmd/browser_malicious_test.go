//go:build browser

package cmd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	pageproto "github.com/chromedp/cdproto/page"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// Uploaded documents can't run scripts in the server's origin. The test opens every
// malicious document that was accepted, on all pages that display it and at all URLs that
// serve it. The monitor detects dialogs, requests, and policy violations of the canary
// script.
func testMaliciousUploads(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	folder, err := c.CreateFolder(t.Context(), `<script>alert("canary")</script>`, nil)
	if err != nil {
		t.Fatalf("create folder: %v", err)
	}
	accepted, rejected := uploadAll(t, c, &folder.ID)
	t.Logf("%d accepted, %d rejected", len(accepted), rejected)
	if len(accepted) < 25 || rejected < 10 {
		t.Errorf("got %d documents accepted and %d rejected, want at least 25 and 10", len(accepted), rejected)
	}
	b := env.newTab(t, srv.origin)
	// Chromium displays an image in its own HTML page and reports that the sandbox blocks
	// that page's style.
	b.allow("/original", "kInlineViolation style-src-attr", "/favicon.ico")
	b.signIn(staff)
	for _, path := range []string{"/", "/vault", fmt.Sprintf("/vault/%d", folder.ID)} {
		b.goTo(path)
		b.checkNotRun(path)
	}
	for _, f := range accepted {
		if strings.HasSuffix(f.Filename, ".pdf") {
			// A script of a PDF runs in Chromium's viewer, which shows its dialogs some seconds later and gives it no access
			// to the page.
			b.allow(fmt.Sprintf("dialog: alert canary at %s documents %d original", strings.ReplaceAll(srv.origin, "/", " "), f.ID),
				fmt.Sprintf("dialog: alert canary at %s documents %d print", strings.ReplaceAll(srv.origin, "/", " "), f.ID))
		}
		page := fmt.Sprintf("/documents/%d", f.ID)
		for _, path := range []string{page, page + "/text"} {
			b.goTo(path)
			b.checkNotRun(f.Filename + " " + path)
		}
		for _, path := range []string{page + "/original", page + "/print", page + "/download"} {
			b.navigate(path)
			b.checkNotRun(f.Filename + " " + path)
		}
	}
}

// uploadAll uploads every malicious document. It returns the documents that the server
// accepted and the number of documents that it rejected.
func uploadAll(t *testing.T, c *client.Client, folder *int64) (accepted []apitypes.File, rejected int) {
	t.Helper()
	for _, f := range maliciousFiles(t) {
		result, err := c.Upload(t.Context(), folder, []client.Upload{{Filename: f.name, Reader: bytes.NewReader(f.content)}})
		if err != nil {
			t.Fatalf("upload %q: %v", f.name, err)
		}
		accepted, rejected = append(accepted, result.Files...), rejected+len(result.Errors)
	}
	return accepted, rejected
}

// navigate opens a path that may be a download. A download aborts the navigation.
func (ta *tab) navigate(path string) {
	ta.t.Helper()
	result := call(ta, pageproto.Navigate, pageproto.NavigateParams{URL: ta.origin + path})
	if result.ErrorText != "" && !strings.Contains(result.ErrorText, "ERR_ABORTED") {
		ta.t.Fatalf("open %s: %s", path, result.ErrorText)
	}
	ta.waitFor(`document.readyState == "complete"`)
}

// checkNotRun waits long enough for a document to run a script and checks that the canary
// script didn't run.
func (ta *tab) checkNotRun(name string) {
	ta.t.Helper()
	time.Sleep(30 * time.Millisecond) // there is no event to wait for if a script doesn't run
	title := eval[string](ta, `document.title`)
	if strings.HasPrefix(title, "canary") {
		ta.t.Errorf("%s: got title %q, so its script ran", name, title)
	}
}

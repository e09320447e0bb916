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
	"deedkeep/app/client"
)

// Nothing that was uploaded runs in the vault's origin (PROMISES.md, row 10): every
// hostile document that is accepted is opened on every page that shows it, and in
// every way in which it leaves; the watch sees a canary's dialog, request or breach.
func testMaliciousUploads(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	folder, err := c.CreateFolder(t.Context(), `<script>alert("canary")</script>`, nil)
	if err != nil {
		t.Fatal(err)
	}
	filed, refused := uploadAll(t, c, &folder.ID)
	t.Logf("%d accepted, %d refused", len(filed), refused)
	if len(filed) < 25 || refused < 10 {
		t.Errorf("%d accepted, %d refused", len(filed), refused)
	}
	b := env.newTab(t, srv.origin)
	// Of a picture in its sandbox Chromium tells what it cannot do there itself.
	b.allow("/original", "kInlineViolation style-src-attr", "/favicon.ico")
	b.signIn(staff)
	for _, path := range []string{"/", "/vault", fmt.Sprintf("/vault/%d", folder.ID)} {
		b.goTo(path)
		b.checkNotRun(path)
	}
	for _, f := range filed {
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

// uploadAll uploads every hostile document, and counts those that are refused.
func uploadAll(t *testing.T, c *client.Client, folder *int64) (filed []apitypes.File, refused int) {
	t.Helper()
	for _, d := range maliciousFiles(t) {
		done, err := c.Upload(t.Context(), folder, []client.Upload{{Filename: d.name, Reader: bytes.NewReader(d.content)}})
		if err != nil {
			t.Fatal(err)
		}
		filed, refused = append(filed, done.Files...), refused+len(done.Errors)
	}
	return filed, refused
}

// navigate goes where no page may come of it: what is saved ends a navigation.
func (b *tab) navigate(path string) {
	b.t.Helper()
	result := call(b, pageproto.Navigate, pageproto.NavigateParams{URL: b.origin + path})
	if result.ErrorText != "" && !strings.Contains(result.ErrorText, "ERR_ABORTED") {
		b.t.Fatalf("%s: %s", path, result.ErrorText)
	}
	b.waitFor(`document.readyState == "complete"`)
}

// checkNotRun gives a document time to do what it would, and looks whether it did.
func (b *tab) checkNotRun(what string) {
	b.t.Helper()
	time.Sleep(30 * time.Millisecond) // nothing says that nothing comes
	title := eval[string](b, `document.title`)
	if strings.HasPrefix(title, "canary") {
		b.t.Errorf("%s ran: its title is %q", what, title)
	}
}

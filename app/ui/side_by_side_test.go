package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// sidesOf returns a server with an abstract of three documents, and what the sides can show.
func sidesOf(t *testing.T) (h *testServer, abstract string, documents []string) {
	t.Helper()
	h, abstract, files := newServerWithDocuments(t)
	for _, f := range files {
		documents = append(documents, fmt.Sprintf("document-%d", f.ID))
	}
	return h, abstract, documents
}

func TestSideBySide(t *testing.T) {
	t.Parallel()
	h, abstract, documents := sidesOf(t)
	g := h.newUser(t, "vera", model.RoleViewer)
	number := func(document string) string { return strings.TrimPrefix(document, "document-") }
	got := g.get(t, 200, "/side-by-side?left="+documents[1]+"-page-2&right=runsheet-"+abstract,
		"<title>b Deed.pdf and Runsheet · deedkeep</title>",
		`src="/abstracts/`+abstract+`/runsheet" name="right" title="Runsheet"`,
		`<option value="`+documents[1]+`" selected>b Deed.pdf</option>`, `<option value="runsheet-`+abstract+`" selected>Runsheet</option>`,
		`href="/side-by-side?left=runsheet-`+abstract+`&amp;right=`+documents[1]+`-page-2"`, `href="/abstracts/`+abstract+`#runsheet"`)
	got.has(t, fmt.Sprintf(`<iframe src="/documents/%s?in=abstract%%3A%s&amp;page=2" name="left"`, number(documents[1]), abstract))
	got.checkHeaders(t, map[string]string{"Content-Security-Policy": policy + "; frame-src 'self'", "X-Content-Type-Options": "nosniff"})

	// If one side is missing, it lists the runsheet and then the documents from the next one on.
	choices := string(g.get(t, 200, "/side-by-side?left="+documents[1], "Choose what to show here").body)
	order := []string{"runsheet-" + abstract, documents[2], documents[0]}
	var at []int
	for _, value := range order {
		at = append(at, strings.Index(choices, `href="/side-by-side?left=`+documents[1]+`&amp;right=`+value+`"`))
	}
	if !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("links to %v: got them at %v, want them in this order", order, at)
	}
	g.get(t, 200, "/side-by-side?right=runsheet-"+abstract, `href="/side-by-side?left=`+documents[0]+`&amp;right=runsheet-`+abstract+`"`)

	for _, query := range []string{"", "?left=", "?left=x", "?left=document-", "?left=document-0", "?left=document-01", "?left=document-+1",
		"?left=document--1", "?left=document-99999", "?left=document-99999999999999999999", "?left=" + documents[0] + "-page-",
		"?left=" + documents[0] + "-page-0", "?left=" + documents[0] + "-page-x", "?left=" + documents[0] + "-page-1-page-1",
		"?left=document-" + documents[0], "?left=runsheet-", "?left=runsheet-1", "?left=runsheet-" + abstract + "x",
		"?left=runsheet-" + abstract + "/x", "?left=https://evil.example/", "?left=//evil.example", "?left=/documents/1",
		"?left=javascript:alert(1)", "?left=" + documents[0] + "&right=https://evil.example/", "?left=" + documents[0] + "&left=" + documents[1],
		"?left=" + documents[0] + "&right=folder-1"} {
		got := g.get(t, 404, "/side-by-side"+query)
		got.lacks(t, "<iframe", "evil.example")
	}
	if got := h.request(t, 303, "GET", "/side-by-side?left="+documents[0]).Header.Get("Location"); !strings.HasPrefix(got, "/sign-in?to=") {
		t.Errorf("signed out: got %q, want the sign-in page", got)
	}
	err := h.vault.Events.Each(t.Context(), 1, func(e model.Event, err error) error {
		if e.Kind == "file.opened" {
			t.Errorf("got view %+v, want none: the frames have them", e)
		}
		return err
	})
	vaulttest.NoError(t, err)
}

// The release of the mortgage that a document has is offered before other documents.
func TestSideBySideRelated(t *testing.T) {
	t.Parallel()
	h, abstract, documents := sidesOf(t)
	number := func(n int) string { return strings.TrimPrefix(documents[n], "document-") }
	id := h.abstractID(t, abstract)
	mortgage := h.createInstrument(t, id, `{"type":"Mortgage","documents":[{"file_id":`+number(1)+`}]}`)
	h.createInstrument(t, id, fmt.Sprintf(`{"type":"Release or Satisfaction","documents":[{"file_id":%s}],
		"relations":[{"kind":"releases","instrument_id":%d}]}`, number(0), mortgage))
	g := h.newUser(t, "vera", model.RoleViewer)
	text := string(g.get(t, 200, "/side-by-side?left="+documents[1], `a Search.txt <small class="muted">Releases Mortgage</small>`).body)
	if release, next := strings.Index(text, "right="+documents[0]), strings.Index(text, "right="+documents[2]); release < 0 || release > next {
		t.Errorf("choices: got the release at %d and the next document at %d, want the release first", release, next)
	}
	g.get(t, 200, "/side-by-side?right="+documents[0], `b Deed.pdf <small class="muted">Released by Release or Satisfaction</small>`)
}

// The documents of a folder are beside the previous and the next one.
func TestSideBySideInFolder(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	file := h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	other := h.upload(t, "b.pdf", vaulttest.PDF(1, "b"))
	h.newUser(t, "vera", model.RoleViewer).get(t, 200, fmt.Sprintf("/side-by-side?right=document-%d", file.ID),
		fmt.Sprintf(`href="/side-by-side?left=document-%d&amp;right=document-%d"`, other.ID, file.ID), `aria-label="Back to Vault"`)
}

// Only the pages that can be side by side may be in a frame, and only in one of this server.
func TestFrames(t *testing.T) {
	t.Parallel()
	h, abstract, documents := sidesOf(t)
	cookie := h.newUser(t, "kim", model.RoleStaff).cookie
	document, runsheet := "/documents/"+strings.TrimPrefix(documents[1], "document-"), "/abstracts/"+abstract+"/runsheet"
	framed := strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1)
	const frame, page = "Sec-Fetch-Dest: iframe", "Sec-Fetch-Dest: document"
	const same, cross = "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"
	for _, c := range []struct {
		path   string
		status int
		header []string
		want   string
		inside bool // without the header of the page
	}{
		{document, 200, []string{frame, same}, framed, true},
		{runsheet, 200, []string{frame, same}, framed, true},
		{document, 200, nil, framed, false}, // over HTTP, browsers don't say what for
		{runsheet, 200, nil, framed, false},
		{document, 200, []string{frame, cross}, policy, false},
		{runsheet, 200, []string{frame, cross}, policy, false},
		{document, 200, []string{frame, "Sec-Fetch-Site: same-site"}, policy, false},
		{document, 200, []string{frame, "Sec-Fetch-Site: none"}, policy, false},
		{document, 200, []string{page, same}, policy, false},
		{"/documents/99999", 404, []string{frame, same}, framed, true},
		{"/documents/99999", 404, []string{frame, cross}, policy, false},
		{"/documents/99999", 404, nil, policy, false},
		{"/abstracts/" + abstract, 200, []string{frame, same}, policy, true},
		{"/abstracts/" + abstract, 200, nil, policy, false},
		{"/vault", 200, []string{frame, same}, policy, true},
		{"/me", 200, []string{frame, same}, policy, true},
		{"/trash", 200, nil, policy, false},
		{"/side-by-side?left=" + documents[0], 200, []string{frame, same}, policy + "; frame-src 'self'", true},
	} {
		got := h.request(t, c.status, "GET", c.path, append(c.header, cookie)...)
		got.checkHeaders(t, map[string]string{"Content-Security-Policy": c.want})
		const marks = `<html lang="en" data-framed>`
		if inside := strings.Contains(string(got.body), marks) && strings.Contains(string(got.body), `<base target="_top">`); inside != c.inside {
			t.Errorf("GET %s %q: got marked as in a frame: %t, want %t", c.path, c.header, inside, c.inside)
		}
	}
	// The sign-in page gets the whole window.
	h.request(t, 303, "GET", document, frame, cross)
	got := h.request(t, 401, "GET", document, frame, same)
	got.checkHeaders(t, map[string]string{"Content-Security-Policy": framed})
	got.has(t, "data-signed-out", `target="_top">Sign in</a>`, `href="/sign-in?to=`)
	h.request(t, 200, "GET", "/sign-in", frame, same).checkHeaders(t, map[string]string{"Content-Security-Policy": policy})
}

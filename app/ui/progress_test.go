package ui_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// progress returns the parts of the line that shows the progress of a search, each with its anchor and color class.
func (r reply) progress(t *testing.T) string {
	t.Helper()
	line := r.matches(t, `(?s)<ul class="progress" id="abstract-progress"[^>]*>(.*?)</ul>`)[0]
	var parts []string
	link := regexp.MustCompile(`<a href="#([a-z0-9-]+)"(?: class="([a-z]+)")?(?: title="[^"]*")?>(?:<svg.*?</svg>)?([^<]*)</a>`)
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		parts = append(parts, strings.TrimSuffix(html.UnescapeString(m[3])+" #"+m[1]+" "+m[2], " "))
	}
	return strings.Join(parts, " · ")
}

// A line below the title of an abstract shows the progress of its search. Each part links to its place on the page.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	empty, _ := h.createAbstract(t, staff.actor, nil, model.Property{})
	path, created := h.createAbstract(t, staff.actor, map[string]string{"borrower": "Bea Cole"}, model.Property{}, "packet.pdf")
	id := created.Abstract.ID
	check := func(what, path, want string) {
		t.Helper()
		page := staff.get(t, 200, path)
		if got := page.progress(t); got != want {
			t.Errorf("%s: got %s\nwant %s", what, got, want)
		}
		for _, anchor := range regexp.MustCompile(`#([a-z0-9-]+)`).FindAllStringSubmatch(want, -1) {
			page.has(t, ` id="`+anchor[1]+`"`)
		}
		if got := staff.get(t, 200, path+"/progress", "HX-Request", "true").progress(t); got != want {
			t.Errorf("%s, the part alone: got %s\nwant %s", what, got, want)
		}
	}
	check("empty", empty, "No documents yet #documents")
	check("documents", path, "1 document, no instruments yet #documents · not certified #certificates")
	h.createInstrument(t, id, `{"type":"Warranty Deed","recorded":"2001-05-02","grantors":["Ann Cole"],"grantees":["Bea Cole"]}`)
	const chain = "Ann Cole #instrument-1 · Bea Cole #instrument-1 · "
	check("nothing open", path, chain+"Nothing open #runsheet good · names run 0 of 2 #names-run · not certified #certificates")
	for _, fields := range []string{
		`{"type":"Mortgage","recorded":"2001-05-02","grantors":["Bea Cole"],"grantees":["First Bank"]}`,
		`{"type":"Judgment","recorded":"2003-05-02","grantors":["Bea Cole"],"grantees":["Second Bank"]}`,
		`{"type":"Judgment","recorded":"2004-05-02","grantors":["Bea Cole"],"grantees":["Third Bank"]}`,
		`{"type":"Quitclaim Deed","recorded":"2019-04-17","grantors":["Dora Finch"],"grantees":["Carl Diaz"]}`,
	} {
		h.createInstrument(t, id, fields)
	}
	open := chain + "Finch #instrument-5 · Diaz #instrument-5 · " +
		"1 gap #instrument-1 warn · 1 open mortgage #instrument-2 · 2 open judgments #instrument-3 · names run 0 of 4 #names-run"
	check("open", path, open+" · not certified #certificates")
	staff.get(t, 200, path).has(t, `</a>; <a href="#instrument-5" title="Dora Finch">Finch</a> → `,
		`<span class="muted">(last grantee, recorded Apr 17, 2019)</span>`)

	form := staff.get(t, 200, path+"/certificates?edit=1")
	sent := form.accept("known")
	sent.Set("effective_date", h.clock.Now().Format(time.DateOnly))
	sent.Set("version", form.matches(t, `name="version" value="([^"]+)"`)[0])
	staff.post(t, 303, path+"/certificates", sent)
	through := h.clock.Now().Format("Jan 2, 2006")
	check("certified", path, open+" · certified through "+through+" #certificates")
	h.createInstrument(t, id, `{"type":"Plat","recorded":"1999-04-17"}`)
	check("changed", path, open+" · certified through "+through+", changed since #certificates warn")
	staff.post(t, 303, path+"/certificates/void", map[string][]string{"certificate": {"1"}, "reason": {"wrong date"}})
	check("void", path, open+" · certificate void #certificates warn")
	staff.get(t, 303, path+"/progress").checkHeaders(t, map[string]string{"Location": path})
}

package ui_test

import (
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// accept returns a form that accepts all findings of a page with the form of a certificate.
func (r reply) accept(reason string) url.Values {
	form := url.Values{}
	for _, id := range regexp.MustCompile(`name="check" value="([^"]+)"`).FindAllStringSubmatch(string(r.body), -1) {
		form.Add("check", html.UnescapeString(id[1]))
		form.Add("reason", reason)
	}
	return form
}

// with returns a form with other values.
func with(form url.Values, fields ...string) url.Values {
	form = maps.Clone(form)
	for n := 0; n < len(fields); n += 2 {
		form.Set(fields[n], fields[n+1])
	}
	return form
}

// Certifying stores the runsheet. A later change is shown. A bring-down continues the search.
func TestCertificateAndBringDown(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17", "search_from": "1980-01-01"},
		model.Property{County: "Albany"})
	h.addInstrument(t, a.Abstract.ID, `{"type":"Warranty Deed","book":"900","page":"12","grantors":["Lee"],"grantees":["Roe"]}`)
	section := path + "/certificates"
	form := kim.get(t, 200, section+"?edit=1")
	form.has(t, `name="search_from" type="date" max="9999-12-31" value="1980-01-01"`, `name="indices_searched" value="UCC"`)
	once := form.matches(t, `name="once" value="([^"]+)"`)[0]
	kim.post(t, 422, section, url.Values{"effective_date": {""}, "search_from": {"2/30/2026"}}).has(t, "isn&#39;t a date", `value="2/30/2026"`)
	reversed := kim.post(t, 422, section, url.Values{"effective_date": {"5/20/2026"}, "search_from": {"1/1/2027"}})
	reversed.has(t, "must not be before the start of the search")
	reversed.lacks(t, "isn&#39;t a date")
	kim.post(t, 422, section, url.Values{"effective_date": {"5/31/2026"}}).has(t, "must not be in the future")
	sent := form.accept("Old deed")
	maps.Copy(sent, url.Values{"effective_date": {"5/20/2026"}, "effective_time": {"8:00 am"}, "search_from": {"1980-01-01"},
		"indices_searched": {"", "UCC", "Plats"}, "once": {once}, "version": form.matches(t, `name="version" value="([^"]+)"`)})
	for range 2 { // the second time is a double click
		if got := kim.post(t, 303, section, sent); got.Header.Get("Location") != path+"#certificates" {
			t.Errorf("Location = %q, want the certificates", got.Header.Get("Location"))
		}
	}
	page := kim.get(t, 200, path)
	page.has(t, "May 20, 2026, 8:00 AM", "UCC, Plats", "Kim of staff", "As certified", "Runsheet certified ", "Accepted by Kim of staff",
		"has no recording date. <b>Old deed</b>")
	page.lacks(t, "Changed since certified")
	if n := strings.Count(string(page.body), "As certified"); n != 1 {
		t.Errorf("got %d certificates, want 1", n)
	}
	h.addInstrument(t, a.Abstract.ID, `{"type":"Mortgage"}`)
	kim.get(t, 200, path).has(t, "Changed since certified")

	once = page.matches(t, `bring-down"><input type="hidden" name="once" value="([^"]+)"`)[0]
	down := kim.post(t, 303, path+"/bring-down", url.Values{"once": {once}}).location()
	if again := kim.post(t, 303, path+"/bring-down", url.Values{"once": {once}}).location(); again != down {
		t.Errorf("the same form again: got %s, want %s", again, down)
	}
	kim.get(t, 200, down).has(t, "Bring-down of", `href="`+path+`"`, "26-17-BD1", "Not carried over", "1 document",
		`<dt>Search From <span class="muted">(not in this template)</span></dt><dd>May 20, 2026</dd>`)
	kim.get(t, 200, down).lacks(t, "Certificate void")
	h.addInstrument(t, a.Abstract.ID, `{"type":"Plat"}`)
	lee, admin := h.openBrowserAs(t, "Lee", model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
	kim.get(t, 200, path).has(t, "Void this certificate")
	lee.get(t, 200, path).lacks(t, "Void this certificate")
	wrong := url.Values{"certificate": {"1"}, "reason": {"Wrong <date>"}}
	lee.post(t, 403, section+"/void", wrong)
	kim.post(t, 422, section+"/void", with(wrong, "reason", " ")).has(t, "Reason: ")
	kim.post(t, 404, section+"/void", with(wrong, "certificate", "x"))
	admin.post(t, 303, section+"/void", wrong)
	admin.post(t, 409, section+"/void", wrong).has(t, "This certificate is already void.")
	kim.get(t, 200, down).has(t, `<span class="badge bad">Certificate void</span>`)
	kim.get(t, 200, down+"/certificates?edit=1").has(t,
		"This search starts on May 20, 2026, the effective date of the prior search&#39;s certificate. That certificate is void.")
	voided := kim.get(t, 200, path)
	voided.has(t, `<span class="badge bad">Void</span>`, "<b>Wrong &lt;date&gt;</b>")
	voided.lacks(t, "Changed since certified", "Void this certificate")
	kim.get(t, 200, path+"/print").has(t, "VOID: the search certificate through May 20, 2026, 8:00 AM was voided on <time",
		"Wrong &lt;date&gt;", "VOID: search not certified", "DRAFT: search not certified", "Certify the search again before you send this.")
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.post(t, 403, section, sent)
	viewer.post(t, 403, section+"/void", wrong)
	viewer.post(t, 403, path+"/bring-down", nil)
}

// A search is certified only after each finding is fixed or accepted. The form keeps what was typed, and lists the
// findings again if the search changed in the meantime. The next form proposes the same reasons.
func TestCertifyAfterCheck(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17", "current_owner": "Ann Lee"},
		model.Property{County: "Albany"})
	section := path + "/certificates"
	mortgage := h.addInstrument(t, a.Abstract.ID,
		`{"type":"Mortgage","recorded":"2001-02-03","book":"900","page":"12","grantors":["Roe"],"grantees":["<Bank>"]}`)
	h.addInstrument(t, a.Abstract.ID, `{"type":"Warranty Deed","recorded":"2001-02-03","book":"1","page":"2","grantors":["Jo Lee"],
		"grantees":["Bo Roe"]}`)
	h.addInstrument(t, a.Abstract.ID, `{"type":"Quitclaim Deed","recorded":"2002-02-03","book":"1","page":"3","grantors":["John Farmer"],
		"grantees":["Bo Roe"]}`)
	form := kim.get(t, 200, section+"?edit=1")
	form.has(t, "Check before you certify", "No earlier instrument in this runsheet names John Farmer as grantee.",
		"Mortgage · Book 900, Page 12 · Roe to &lt;Bank&gt; shows as open in this runsheet, and no requirement refers to it.",
		fmt.Sprintf(`href="%s#instrument-%d"`, path, mortgage.ID), `href="`+path+`/requirements?edit=1"`,
		"The abstract names Ann Lee as current owner.", "Jo Lee is in the chain, but not in the names run.",
		"Reason for all findings above without one", "Ann Lee is the current owner, but not in the names run.", `<button class="primary" name="do" value="certify">`)
	form.lacks(t, "Fix this, or enter a reason.", "no effective date")
	fields := []string{"effective_date", "5/20/2026", "effective_time", "8:00 AM", "search_from", "1966-01-01", "indices_searched", "UCC",
		"version", form.matches(t, `name="version" value="([^"]+)"`)[0], "once", "x"}
	some := with(form.accept("Fine <so>"), fields...)
	some["reason"] = slices.Clone(some["reason"])
	some["reason"][len(some["reason"])-1] = ""
	left := kim.post(t, 422, section, some)
	left.has(t, "Fix or accept each finding before you certify.", "Fix this, or enter a reason.", `value="Fine &lt;so&gt;"`, `value="8:00 AM"`,
		`value="2026-05-20"`)
	left.lacks(t, "no effective time", "Not certified yet")
	kim.post(t, 200, section, with(some, "do", "check")).lacks(t, "Fix this, or enter a reason.")

	h.addInstrument(t, a.Abstract.ID, `{"type":"Plat","instrument_number":"7"}`) // another browser
	all := with(form.accept("Fine"), fields...)
	changed := kim.post(t, 422, section, all)
	changed.has(t, "The search has changed since you opened this list.", "Plat · Inst. 7 has no recording date.", `value="Fine"`)
	version := changed.matches(t, `name="version" value="([^"]+)"`)[0]
	kim.post(t, 422, section, with(all, "version", version)).has(t, "Fix or accept each finding")
	kim.post(t, 303, section, with(all, "version", version, "all.not_recorded", "Plat of 1901"))
	for _, page := range []string{path, path + "/print"} {
		kim.get(t, 200, page).has(t, "Accepted by Kim of staff", "names John Farmer as grantee. <b>Fine</b>",
			"Plat · Inst. 7 has no recording date. <b>Plat of 1901</b>", "May 20, 2026, 8:00 AM")
	}
	again := kim.get(t, 200, section+"?edit=1")
	again.has(t, `value="Plat of 1901"`, "Reason in the latest certificate.")
	if work, err := h.vault.TitleWork.Get(t.Context(), a.Abstract.ID); err != nil || len(work.Certificates) != 1 ||
		len(work.Certificates[0].Unaccepted) != 0 {
		t.Errorf("got certificates %+v, %v, want one with all findings accepted", work.Certificates, err)
	}
}

// One reason for all findings of a check accepts any number of them.
func TestCertifyWithManyFindings(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17"}, model.Property{County: "Albany"})
	for n := range 130 {
		h.addInstrument(t, a.Abstract.ID, fmt.Sprintf(`{"type":"Quitclaim Deed","grantors":["Farmer %c %d"]}`, 'A'+n%26, n))
		h.addInstrument(t, a.Abstract.ID, fmt.Sprintf(`{"type":"Mortgage","grantors":["Roe %c %d"],"county":"Essex"}`, 'A'+n%26, n))
	}
	section := path + "/certificates"
	form := kim.get(t, 200, section+"?edit=1")
	form.has(t, "30 more findings of this type.")
	fields := []string{"effective_date", "5/20/2026", "effective_time", "8:00 AM", "search_from", "1966-01-01", "indices_searched", "UCC",
		"version", form.matches(t, `name="version" value="([^"]+)"`)[0], "once", "x"}
	blank := with(form.accept(""), fields...)
	if n := len(blank["check"]); n <= model.MaxTitleRows {
		t.Fatalf("got %d findings, want more than %d", n, model.MaxTitleRows)
	}
	kim.post(t, 422, section, blank).has(t, "Fix or accept each finding before you certify.")
	for _, check := range []string{"gap", "party", "name_not_run", "open_lien", "other_place", "not_recorded"} {
		blank.Set("all."+check, "Old papers")
	}
	kim.post(t, 303, section, blank)
	kim.get(t, 200, path).has(t, "Accepted by Kim of staff", "<b>Old papers</b>")
}

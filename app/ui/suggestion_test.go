package ui_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// fileForm returns a form with one file in the field "file".
func fileForm(content string) (body, kind string) {
	return fmt.Sprintf("--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.csv\"\r\nContent-Type: text/csv\r\n\r\n%s\r\n--XX--\r\n", content),
		"Content-Type: multipart/form-data; boundary=XX"
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	vaulttest.NoError(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

var hiddenField = regexp.MustCompile(`name="(once|packed)" value="([^"]*)"`)

// A runsheet file is reviewed before its instruments are recorded, without scripts.
func TestRunsheetUpload(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	viewer := h.newUser(t, "vera", model.RoleViewer)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	staff.get(t, 200, path+"/runsheet/upload", "Runsheet file", `enctype="multipart/form-data"`)
	viewer.get(t, 403, path+"/runsheet/upload")
	body, kind := fileForm("No.,Type,Book,Page,Grantors,Relations,Amount\n1,Mortgage,417,7,\"O\"\"Brien <b>\",,387500\n2,Release or Satisfaction,500,1,First Bank,releases 1,\n3,Spaceship,1,1,,,\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "2 instruments in the file", "1 row was rejected", "Row 4:", "releases row 2", "$387,500.00", "O&#34;Brien &lt;b&gt;", "Add selected instruments")
	hidden := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(string(got.body), -1) {
		hidden.Set(match[1], html.UnescapeString(match[2]))
	}
	accept := func(status int, rows ...string) reply {
		t.Helper()
		form := url.Values{"row": rows, "once": hidden["once"], "packed": hidden["packed"]}
		return staff.post(t, status, path+"/runsheet/accept", form)
	}
	accept(422).has(t, "No rows are selected.")
	done := accept(303, "2", "3")
	if to := done.Header.Get("Location"); to != path+"?view=runsheet" {
		t.Errorf("Location = %q, want the runsheet", to)
	}
	if notice := h.noticeOf(t, done); notice != "2 instruments added." {
		t.Errorf("notice = %q", notice)
	}
	// A form that the server didn't render, or that belongs to another user, isn't unpacked.
	forged := base64.RawURLEncoding.EncodeToString(gzipped(t, `[`+strings.Repeat(`{},`, 1000)+`{}]`))
	for _, packed := range []string{"", "x", forged, hidden.Get("packed")[1:]} {
		staff.post(t, 400, path+"/runsheet/accept", url.Values{"row": {"0"}, "packed": {packed}})
	}
	h.newUser(t, "lee", model.RoleStaff).post(t, 400, path+"/runsheet/accept", url.Values{"row": {"2"}, "packed": hidden["packed"]})
	if notice := h.noticeOf(t, accept(303, "2", "3")); !strings.Contains(notice, "already added") {
		t.Errorf("notice after the form was sent again = %q", notice)
	}
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	if err != nil || len(sheet.Instruments) != 2 || sheet.Instruments[0].Status != model.InstrumentReleased {
		t.Errorf("runsheet = %+v, %v, want a released mortgage and its release", sheet, err)
	}
	// Going back and selecting other rows is another form.
	if notice := h.noticeOf(t, accept(303, "2")); notice != "1 instrument added." {
		t.Errorf("notice after other rows were selected = %q", notice)
	}
	h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind).has(t, "Already in this runsheet")
	bad, _ := fileForm("a,b\n1,2\n")
	h.sendBody(t, 422, "POST", path+"/runsheet/upload", bad, staff.cookie, kind).has(t, "column titles")
	h.sendBody(t, 415, "POST", path+"/runsheet/upload", "file=x", staff.cookie, "Content-Type: application/x-www-form-urlencoded")
	h.sendBody(t, 403, "POST", path+"/runsheet/upload", body, viewer.cookie, kind)
	staff.post(t, 400, path+"/runsheet/accept", url.Values{"row": {"2"}, "packed": {"x"}})
}

// The selected instruments that the names of documents describe are added with one button.
func TestAcceptSuggestions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	viewer := h.newUser(t, "vera", model.RoleViewer)
	created := vaulttest.CreateAbstract(t, h.vault, vaulttest.PDFDoc("01_WD_Bk900-Pg7_Smith-to-Jones.pdf", "1"),
		vaulttest.PDFDoc("Mortgage Bk 9 Pg 8.pdf", "2"))
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	viewer.post(t, 403, path+"/suggestions", nil)
	part := h.request(t, 200, "GET", path+"/suggestions", staff.cookie, "HX-Request: true")
	part.has(t, "2 suggested instruments")
	part.lacks(t, "<html")
	staff.get(t, 303, path+"/suggestions")
	viewer.get(t, 403, path+"/suggestions")
	first, second := fmt.Sprint(created.Files[0].ID), fmt.Sprint(created.Files[1].ID)
	for _, row := range []struct {
		files []string
		want  string
	}{
		{nil, "0 instruments added."}, {[]string{second}, "1 instrument added."}, {[]string{first, second}, "1 instrument added."},
		{[]string{first, second}, "0 instruments added."},
	} {
		if notice := h.noticeOf(t, staff.post(t, 303, path+"/suggestions", url.Values{"file": row.files})); notice != row.want {
			t.Errorf("notice after accepting %v = %q, want %q", row.files, notice, row.want)
		}
	}
}

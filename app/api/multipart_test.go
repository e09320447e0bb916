package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func disposition(rest string) string { return "Content-Disposition: form-data; " + rest }

// The name of a part determines whether it is a file, a field, or ignored.
func TestPartRoles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	stored := func(names ...string) []string {
		var has []string
		for _, name := range names {
			has = append(has, fmt.Sprintf(`"filename":%q,"file_type"`, name))
		}
		return has
	}
	for _, c := range []struct {
		name string
		list []string
		has  []string
	}{
		{"three spellings of files", []string{filePart("files[]", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(1)),
			filePart("files[12]", "c.pdf", pdf(1))}, stored("a.pdf", "b.pdf", "c.pdf")},
		{"other names are ignored", []string{filePart("file", "a.pdf", pdf(1)), filePart("files[x]", "a.pdf", pdf(1)),
			filePart("files[1][2]", "b.pdf", pdf(1)), filePart("Files", "c.pdf", pdf(1)), fieldPart("Address", "x")},
			[]string{`"address":null`, `"files":[]`, `"errors":[]`}},
		{"a field with a filename", []string{filePart("custom_fields", "f.json", `{"file_number":"F-1"}`)},
			[]string{`"custom_fields":{"file_number":"F-1"}`, `"files":[]`}},
		{"a field as a Blob", []string{bodyPart(disposition(`name="address"; filename="blob"`)+"\r\nContent-Type: text/plain;charset=UTF-8",
			" 12 Elm ")}, []string{`"address":"12 Elm"`}},
		{"the last of a field counts", []string{fieldPart("city", "one"), filePart("files", "a.pdf", pdf(1)), fieldPart("city", "two"),
			fieldPart("state", "MA"), fieldPart("state", "")}, []string{`"city":"two"`, `"state":null`}},
		{"the empty file input of a browser",
			[]string{bodyPart(disposition(`name="files[]"; filename=""`)+"\r\nContent-Type: application/octet-stream", "")},
			[]string{`"files":[]`, `"errors":[]`}},
		{"an empty filename with content", []string{filePart("files[]", "", "x")},
			[]string{`"files":[]`, `"errors":[{"filename":"unnamed","error":"` + notSupported + `"}]`}},
		{"unquoted", []string{bodyPart(disposition("name=files[]; filename=my  deed of 1903.pdf"), pdf(1))}, stored("my  deed of 1903.pdf")},
		{"header in another case", []string{bodyPart("content-DISPOSITION: Form-Data; NAME=files; FileName=a.pdf", pdf(1))}, stored("a.pdf")},
		{"other headers", []string{bodyPart(disposition(`name="files"; filename="a.pdf"`)+
			"\r\nContent-Transfer-Encoding: binary\r\nX-Other: 1", pdf(1))}, stored("a.pdf")},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm}, body: formBody(c.list...),
				status: 201, has: c.has})
		})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm},
		body: formBody(fieldPart("files[]", "text"), fieldPart("state", strings.Repeat("x", 2001))), status: 422,
		want: `{"message":"The state field must not be greater than 2000 characters. (and 1 more error)","errors":{` +
			`"state":["The state field must not be greater than 2000 characters."],"files":["The files field must be a file."]}}`})
}

func TestPartsBroken(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	good := filePart("files", "a.pdf", pdf(1))
	for _, c := range []struct{ name, body, message string }{
		{"no Content-Disposition", formBody(good, bodyPart("Content-Type: text/plain", "x")), "Part 2 has no Content-Disposition."},
		{"no header at all", formBody("--XX\r\n\r\nx\r\n"), "Part 1 has no Content-Disposition."},
		{"does not parse", formBody(good, good, bodyPart(disposition(`name="files; filename=x`), "x")),
			"The Content-Disposition of part 3 is malformed."},
		{"not form-data", formBody(bodyPart(`Content-Disposition: attachment; name="files"`, "x")),
			"The Content-Disposition of part 1 is malformed."},
		{"no name", formBody(bodyPart(disposition(`filename="a.pdf"`), "x")), "The Content-Disposition of part 1 has no name."},
		{"empty name", formBody(bodyPart(disposition(`name=""; filename="a.pdf"`), "x")), "The Content-Disposition of part 1 has no name."},
		{"two Content-Disposition lines", formBody(bodyPart(disposition(`name="city"`)+"\r\n"+disposition(`name="state"`), "x")),
			"Part 1 has more than one Content-Disposition."},
		{"no final boundary", good, "The request body ends inside or after part 1, before the final boundary."},
		{"empty body", "", "The request body ends before its first part."},
		{"another boundary", strings.ReplaceAll(formBody(good), "--XX", "--YY"), "The request body ends before its first part."},
		{"malformed header line", formBody(bodyPart("no colon", "x")), "A header line of part 1 is malformed."},
		{"header without an end", "--XX\r\n" + disposition(`name="a"`), ""},
		{"too many header lines", formBody(bodyPart(disposition(`name="a"`)+strings.Repeat("\r\nX: y", 65), "x")),
			"The header of part 1 has more than 64 lines."},
		{"header too large", formBody(bodyPart(disposition(`name="`+strings.Repeat("n", 17<<10)+`"`), "x")),
			"The header of part 1 is larger than 16384 bytes."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call{as: "full", method: "POST", path: "/v1/abstracts",
				header: []string{asForm, fmt.Sprintf("Content-Length: %d", len(c.body))}, body: c.body, status: 400}
			if c.message != "" {
				r.want = messageBody(c.message)
			}
			srv.do(t, r)
		})
	}
	srv.checkNothingStored(t)
}

// Filenames are decoded and sanitized.
func TestFilenames(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	long := strings.Repeat("ü", 300)
	for _, c := range []struct{ sent, label string }{
		{`filename="a.pdf"; filename*=UTF-8''%C3%BC.pdf`, "ü.pdf"},
		{`filename*=utf-8'en'%e2%82%ac.pdf; filename="a.pdf"`, "€.pdf"},
		{`filename*=UTF-8''%FF.pdf; filename="a.pdf"`, "a.pdf"},
		{`filename*=UTF-8''..%2F..%5Cx.pdf`, "x.pdf"},
		{`filename="say %22hi%22%0D%0A.pdf"`, `say "hi".pdf`},
		{`filename="100%25.pdf"`, "100%25.pdf"},
		{"filename=\"Gr\xfc\xdfe \x80.pdf\"", "Grüße €.pdf"},
		{`filename="C:\fakepath\a.pdf"`, "a.pdf"},
		{`filename="../../etc/a.pdf"`, "a.pdf"},
		{`filename="x/y\z/a.pdf"`, "a.pdf"},
		{"filename=\"a\x07b\u202egpj\u2066.pdf\"", "abgpj.pdf"},
		{`filename="  a .pdf"`, "  a .pdf"},
		{`filename="u` + "\u0308" + `.pdf"`, "u\u0308.pdf"},
		{`filename="` + long + `.pdf"`, strings.Repeat("ü", 125) + ".pdf"},
	} {
		t.Run(c.label, func(t *testing.T) {
			r := uploadCall("full", 201, bodyPart(disposition(`name="files"; `+c.sent), pdf(1)))
			r.has = []string{fmt.Sprintf(`"filename":%s,"file_type":"pdf"`, quote(c.label))}
			srv.do(t, r)
			// errors[].filename in the response is sanitized too.
			r = uploadCall("full", 200, bodyPart(disposition(`name="files"; `+c.sent), ""))
			r.has = []string{fmt.Sprintf(`"errors":[{"filename":%s,"error":"File is empty"}]`, quote(c.label))}
			srv.do(t, r)
		})
	}
	for _, sent := range []string{`filename="a/"`, `filename=".."`, `filename="x/."`, "filename=\"\x01\"", `filename="\"`,
		`filename*=UTF-8''%00`} {
		r := uploadCall("full", 200, bodyPart(disposition(`name="files"; `+sent), "x"))
		r.has = []string{`"errors":[{"filename":"unnamed","error":`}
		srv.do(t, r)
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"deedkeep/app/vaulttest"
)

// form is a multipart body before it is encoded.
type form struct {
	boundary string // as written in the Content-Type
	parts    []part
	end      string // text after the last part
	media    string // the Content-Type; "": derived from the boundary
}

type part struct {
	header  []string
	content []byte
}

// newForm returns a form with a part for each member and each document.
func (f *fuzzer) newForm(s *openapi3.Schema, tree map[string]any) *form {
	m := &form{boundary: fmt.Sprintf("fence%d", f.rng.IntN(1000))}
	m.end = "--" + m.boundary + "--\r\n"
	for name, v := range sorted(tree) {
		property := s.Properties[name]
		if property != nil && property.Value.Format == "binary" {
			m.parts = append(m.parts, f.runsheetFile(name))
			continue
		}
		if property == nil || !holdsFiles(property.Value) {
			m.parts = append(m.parts, plainPart(name, plain(v)))
			continue
		}
		for range 1 + f.rng.IntN(3) {
			m.parts = append(m.parts, f.document(name))
		}
	}
	if f.percent(30) {
		f.rng.Shuffle(len(m.parts), func(i, j int) { m.parts[i], m.parts[j] = m.parts[j], m.parts[i] })
	}
	return m
}

func holdsFiles(s *openapi3.Schema) bool {
	return s.Items != nil && s.Items.Value.Format == "binary"
}

// document returns a part with a document, usually a valid one.
func (f *fuzzer) document(name string) part {
	salt := fmt.Sprint(f.rng.IntN(400)) // some have the same bytes
	filename, content := "Deed "+salt+".pdf", vaulttest.PDF(1+f.rng.IntN(4), salt)
	switch f.rng.IntN(12) {
	case 0, 1:
		filename, content = "Legal description.txt", []byte("The land beginning at "+salt)
	case 2:
		filename, content = "家屋.PDF", vaulttest.PDF(2, salt)
	case 3:
		filename, content = "setup.exe", []byte("MZ"+salt)
	case 4:
		filename, content = "empty.pdf", nil
	case 5:
		filename, content = "locked.pdf", append(vaulttest.PDF(1, salt), "/Encrypt"...)
	case 6:
		filename, content = "picture.pdf", []byte("\x89PNG\r\n\x1a\n"+salt)
	}
	return f.file(name, filename, content)
}

// uploadContent selects the document of an upload and returns its size.
func (f *fuzzer) uploadContent(r *request) string {
	r.document = pick(f.rng, [][]byte{
		vaulttest.PDF(1+f.rng.IntN(4), fmt.Sprint(f.rng.IntN(400))), append(vaulttest.PDF(1, "x"), "/Encrypt"...),
		[]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte("l"), maxFile),
	})
	sum := sha256.Sum256(r.document)
	f.state.sent[hex.EncodeToString(sum[:])] = true
	return fmt.Sprint(len(r.document))
}

// metadata returns the Upload-Metadata of an upload.
func (f *fuzzer) metadata() string {
	coded := func(name, value string) string { return name + " " + base64.StdEncoding.EncodeToString([]byte(value)) }
	list := []string{coded("filename", pick(f.rng, []string{"Deed.pdf", "家屋.PDF", "Legal description.txt", "setup.exe"}))}
	recordKind := pick(f.rng, []string{"abstract", "folder", ""})
	if t := f.state.pickRecord(f.rng, recordKind, f.percent(10)); t != nil {
		list = append(list, coded(recordKind+"_id", t.id))
	}
	return strings.Join(list, ",")
}

func (f *fuzzer) file(name, filename string, content []byte) part {
	sum := sha256.Sum256(content)
	f.state.sent[hex.EncodeToString(sum[:])] = true
	header := []string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"; filename="%s"`, name, filename)}
	if f.percent(50) {
		header = append(header, "Content-Type: application/octet-stream")
	}
	return part{header, content}
}

// bytes returns the Content-Type and the body.
func (f *form) bytes() (media string, body []byte) {
	var b bytes.Buffer
	for _, p := range f.parts {
		fmt.Fprintf(&b, "--%s\r\n%s\r\n\r\n%s\r\n", f.boundary, strings.Join(p.header, "\r\n"), p.content)
	}
	b.WriteString(f.end)
	if f.media != "" {
		return f.media, b.Bytes()
	}
	return "multipart/form-data; boundary=" + f.boundary, b.Bytes()
}

// mistake is an error in a form.
type mistake struct {
	name string
	make func()
}

// corruptForm inserts one error into a form.
func (f *fuzzer) corruptForm(r *request) string {
	chosen := pick(f.rng, slices.Concat(frameMistakes(r.form), f.partMistakes(r.form), f.documentMistakes(r.form)))
	chosen.make()
	r.media, r.body = r.form.bytes()
	return "form: " + chosen.name
}

// frameMistakes returns errors in the framing of the parts.
func frameMistakes(m *form) []mistake {
	media := func(text string) func() { return func() { m.media = text } }
	return []mistake{
		{"no final boundary", func() { m.end = "" }},
		{"a truncated final boundary", func() { m.end = "--" + m.boundary }},
		{"text after the final boundary", func() { m.end += "and more\r\n--" + m.boundary + "\r\n" }},
		{"another boundary", media("multipart/form-data; boundary=other")},
		{"no boundary", media("multipart/form-data")},
		{"a long boundary", media("multipart/form-data; boundary=" + strings.Repeat("x", 300))},
		{"an invalid boundary", media(`multipart/form-data; boundary="a b`)},
		{"another multipart", media("multipart/mixed; boundary=" + m.boundary)},
		{"no parts", func() { m.parts = nil }},
		{"a missing part", func() { m.parts = m.parts[min(1, len(m.parts)):] }},
		{"a part twice", func() { m.parts = append(m.parts, m.parts[:min(1, len(m.parts))]...) }},
	}
}

// plainPart returns a field without a document.
func plainPart(name, value string) part {
	return part{[]string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"`, name)}, []byte(value)}
}

// partMistakes returns errors in fields and their headers.
func (f *fuzzer) partMistakes(m *form) []mistake {
	add := func(parts ...part) func() { return func() { m.parts = append(m.parts, parts...) } }
	return []mistake{
		{"a part without a name", add(part{[]string{"Content-Disposition: form-data"}, []byte("x")})},
		{"a part without a header", add(part{nil, []byte("x")})},
		{"a part with a malformed header", add(part{[]string{"Content-Disposition form-data"}, nil})},
		{"a part with a large header", add(part{[]string{`Content-Disposition: form-data; name="county"`,
			"X-Large: " + strings.Repeat("y", 20<<10)}, nil})},
		{"a field twice", add(plainPart("county", "A"), plainPart("county", "B"))},
		{"an unknown field", add(plainPart("surprise", "x"))},
		{"a field instead of a document", add(plainPart("files", "x"))},
		{"a field that is too large", add(plainPart("county", strings.Repeat("z", maxJSON+1)))},
		{"a field with invalid UTF-8", add(plainPart("county", "\xff\xfe"))},
		{"too many parts", add(slices.Repeat([]part{plainPart("x", "")}, maxParts+1)...)},
		{"invalid custom fields", add(plainPart("custom_fields", pick(f.rng, []string{"{", "[]", "7", "null", `{"a":{"b":1}}`, ""})))},
		{"an invalid ID", add(plainPart(pick(f.rng, []string{"folder_id", "template_id"}),
			pick(f.rng, []string{"0", "-1", "01", "1e3", "999999", "9223372036854775808", "", "x", "1.0", "null"})))},
	}
}

// documentMistakes returns errors in documents.
func (f *fuzzer) documentMistakes(m *form) []mistake {
	add := func(name, filename string, content []byte) func() {
		return func() { m.parts = append(m.parts, f.file(name, filename, content)) }
	}
	filename := pick(f.rng, []string{
		"../../etc/passwd.pdf", `C:\deeds\a.pdf`, "a\x00.pdf", strings.Repeat("n", 400) + ".pdf", ".pdf", "", "a.pdf.",
		"\u202efdp.exe.pdf", "con.txt", "\xff.pdf", "noextension",
	})
	return []mistake{
		{"a document in another field", add("county", "a.pdf", vaulttest.PDF(1, "x"))},
		{"a document that is too large", add("files", "large.txt", bytes.Repeat([]byte("l"), maxFile+1))},
		{"a document of the maximum size", add("files", "full.txt", bytes.Repeat([]byte("f"), maxFile))},
		{"an unusual filename", add("files", filename, vaulttest.PDF(1, "odd"))},
		{"many documents", func() {
			for range maxFiles + 2 {
				m.parts = append(m.parts, f.document("files"))
			}
		}},
	}
}

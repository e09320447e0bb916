package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"deedkeep/app/vaulttest"
)

// form is a multipart body before it is written.
type form struct {
	boundary string // as it stands in the Content-Type
	parts    []part
	end      string // what comes after the last part
	said     string // the Content-Type; "": that of the boundary
}

type part struct {
	header  []string
	content []byte
}

// newForm has a part for each member, and one for each document.
func (f *fuzzer) newForm(s *openapi3.Schema, tree map[string]any) *form {
	m := &form{boundary: fmt.Sprintf("fence%d", f.rng.IntN(1000))}
	m.end = "--" + m.boundary + "--\r\n"
	for name, v := range sorted(tree) {
		property := s.Properties[name]
		if property == nil || !holdsFiles(property.Value) {
			m.parts = append(m.parts, part{[]string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"`, name)}, []byte(plain(v))})
			continue
		}
		for range 1 + f.rng.IntN(3) {
			m.parts = append(m.parts, f.document(name))
		}
	}
	if f.chance(30) {
		f.rng.Shuffle(len(m.parts), func(i, j int) { m.parts[i], m.parts[j] = m.parts[j], m.parts[i] })
	}
	return m
}

func holdsFiles(s *openapi3.Schema) bool {
	return s.Items != nil && s.Items.Value.Format == "binary"
}

// document is a part with a document, mostly one that is accepted.
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

func (f *fuzzer) file(name, filename string, content []byte) part {
	sum := sha256.Sum256(content)
	f.world.sent[hex.EncodeToString(sum[:])] = true
	header := []string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"; filename="%s"`, name, filename)}
	if f.chance(50) {
		header = append(header, "Content-Type: application/octet-stream")
	}
	return part{header, content}
}

// bytes gives the Content-Type and the body.
func (m *form) bytes() (media string, body []byte) {
	var b bytes.Buffer
	for _, p := range m.parts {
		fmt.Fprintf(&b, "--%s\r\n%s\r\n\r\n%s\r\n", m.boundary, strings.Join(p.header, "\r\n"), p.content)
	}
	b.WriteString(m.end)
	if m.said != "" {
		return m.said, b.Bytes()
	}
	return "multipart/form-data; boundary=" + m.boundary, b.Bytes()
}

// spoilForm makes one mistake in a form.
func (f *fuzzer) spoilForm(r *request) string {
	m := r.form
	any := func() int { return f.rng.IntN(len(m.parts)) }
	name := ""
	mistakes := []struct {
		name string
		make func()
	}{
		{"no end", func() { m.end = "" }},
		{"an end that is cut", func() { m.end = "--" + m.boundary }},
		{"after the end", func() { m.end += "and more\r\n--" + m.boundary + "\r\n" }},
		{"another boundary", func() { m.said = "multipart/form-data; boundary=other" }},
		{"no boundary", func() { m.said = "multipart/form-data" }},
		{"a long boundary", func() { m.said = "multipart/form-data; boundary=" + strings.Repeat("x", 300) }},
		{"an odd boundary", func() { m.said = `multipart/form-data; boundary="a b` }},
		{"another multipart", func() { m.said = "multipart/mixed; boundary=" + m.boundary }},
		{"no parts", func() { m.parts = nil }},
		{"a part without a name", func() {
			m.parts = append(m.parts, part{[]string{"Content-Disposition: form-data"}, []byte("x")})
		}},
		{"a part without a head", func() { m.parts = append(m.parts, part{nil, []byte("x")}) }},
		{"a part with a broken head", func() { m.parts = append(m.parts, part{[]string{"Content-Disposition form-data"}, nil}) }},
		{"a part with a large head", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="county"`, "X-Large: " + strings.Repeat("y", 20<<10)}, nil})
		}},
		{"a field twice", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="county"`}, []byte("A")}, part{[]string{`Content-Disposition: form-data; name="county"`}, []byte("B")})
		}},
		{"an unknown field", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="surprise"`}, []byte("x")})
		}},
		{"a document in another field", func() { m.parts = append(m.parts, f.file("county", "a.pdf", vaulttest.PDF(1, "x"))) }},
		{"a field in the place of a document", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="files"`}, []byte("x")})
		}},
		{"a field that is too large", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="county"`}, bytes.Repeat([]byte("z"), mostJSON+1)})
		}},
		{"a field that is no UTF-8", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="county"`}, []byte("\xff\xfe")})
		}},
		{"custom fields that are no JSON", func() {
			m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="custom_fields"`}, []byte(pick(f.rng, []string{"{", "[]", "7", "null", `{"a":{"b":1}}`, ""}))})
		}},
		{"an id that is none", func() {
			m.parts = append(m.parts, part{[]string{fmt.Sprintf(`Content-Disposition: form-data; name="%s"`, pick(f.rng, []string{"folder_id", "template_id"}))},
				[]byte(pick(f.rng, []string{"0", "-1", "01", "1e3", "999999", "9223372036854775808", "", "x", "1.0", "null"}))})
		}},
		{"a document that is too large", func() {
			m.parts = append(m.parts, f.file("files", "large.txt", bytes.Repeat([]byte("l"), mostFile+1)))
		}},
		{"a document as large as may be", func() {
			m.parts = append(m.parts, f.file("files", "full.txt", bytes.Repeat([]byte("f"), mostFile)))
		}},
		{"many documents", func() {
			for range mostFiles + 2 {
				m.parts = append(m.parts, f.document("files"))
			}
		}},
		{"too many parts", func() {
			for range mostParts + 1 {
				m.parts = append(m.parts, part{[]string{`Content-Disposition: form-data; name="x"`}, nil})
			}
		}},
		{"an odd filename", func() {
			odd := pick(f.rng, []string{"../../etc/passwd.pdf", `C:\deeds\a.pdf`, "a\x00.pdf", strings.Repeat("n", 400) + ".pdf", ".pdf", "", "a.pdf.", "\u202efdp.exe.pdf", "con.txt", "\xff.pdf", "noextension"})
			m.parts = append(m.parts, f.file("files", odd, vaulttest.PDF(1, "odd")))
		}},
		{"a part that is gone", func() {
			if len(m.parts) > 0 {
				m.parts = slices.Delete(m.parts, 0, 1)
			}
		}},
		{"a part twice", func() {
			if len(m.parts) > 0 {
				m.parts = append(m.parts, m.parts[any()])
			}
		}},
	}
	one := pick(f.rng, mistakes)
	name = one.name
	one.make()
	r.media, r.body = m.bytes()
	return "form: " + name
}

package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[1,2]", `{"a":1,"b":[true,false,null],"c":{"d":"é😀"}}`, `{"a":1,"\u0061":2}`, "\xef\xbb\xbf{\"a\":-0.5e+10}",
		`{"a":"\ud83d\ude00\"\\\/\b\f\n\r\t"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1}x`, strings.Repeat("[", 40),
		strings.Repeat(`{"":[`, 16),
		`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"b":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text := bytes.TrimPrefix(b, bom)
		got, err := Object(b)
		var m *MalformedError
		if err != nil {
			if !errors.As(err, &m) || got != nil || !strings.HasSuffix(m.Reason, ".") {
				t.Fatalf("Object = %v, %v; want a MalformedError with a sentence", got, err)
			}
			if json.Valid(text) && !stricter(m.Reason) {
				t.Fatalf("Object rejects what encoding/json accepts: %v", err)
			}
			return
		}
		if len(bytes.Trim(text, " \t\r\n")) == 0 {
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) || Valid(text) != nil {
			t.Fatal("Object accepts what encoding/json rejects")
		}
		var want map[string]json.RawMessage
		if jsontext.Value(text).Kind() != '{' {
			want = nil
		} else if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("decode with encoding/json: %v", err)
		}
		if len(got) != len(want) {
			t.Fatalf("Object has %d members, want %d", len(got), len(want))
		}
		for name, raw := range got {
			if !bytes.Equal(raw, want[name]) || Valid(raw) != nil {
				t.Fatalf("member %q = %s, want %s", name, raw, want[name])
			}
			compareWithStandard(t, raw)
		}
	})
}

// stricter reports whether reason is an error that only this package returns, not encoding/json.
func stricter(reason string) bool {
	for _, s := range []string{"repeated key", "invalid UTF-8", "lone surrogate", "nested deeper", "more than"} {
		if strings.Contains(reason, s) {
			return true
		}
	}
	return false
}

// compareWithStandard compares the strings of a valid value with those that encoding/json returns.
func compareWithStandard(t *testing.T, raw json.RawMessage) {
	var text string
	var items []json.RawMessage
	switch jsontext.Value(raw).Kind() {
	case '"':
		if got, ok := String(raw); !ok || json.Unmarshal(raw, &text) != nil || got != text {
			t.Fatalf("String = %q, %t; want %q", got, ok, text)
		}
	case '[':
		if err := json.Unmarshal(raw, &items); err != nil {
			t.Fatalf("decode %s with encoding/json: %v", raw, err)
		}
		for _, item := range items {
			compareWithStandard(t, item)
		}
	case '{':
		members, err := Object(raw)
		if err != nil {
			t.Fatalf("Object(%s): %v", raw, err)
		}
		for _, value := range members {
			compareWithStandard(t, value)
		}
	}
}

// FuzzMultipart compares Reader with mime/multipart. In the fuzzed body, @ represents the header block of a part, and
// | represents a line break and a boundary. With these shortcuts, the fuzzer finds bodies that both readers accept.
func FuzzMultipart(f *testing.F) {
	for _, seed := range []string{
		"--B\r\n@x|\r\n@y|--\r\n", "--B\n@x\n--B\n@\n--B--", "pre\r\n\r\n--B  \r\n@|\t\r\n@--B--\r\nepi",
		"--B\r\n@--Bx\r\n--B-x\n--B|x|--", "--B--",
		"--B\r\n@\r\r\n\r\r\n--\r\n--|--  \r\n", "--B\r\nX: y\r\n z\r\n@content|--", "--B\r\n@a|\n@b|--\n", "--B\n@a|\r\n@b|--", "",
		"--B\r\n@x|", "|\n", "--B\r\n@x|\r\nX: y",
	} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(40))
	}
	f.Fuzz(func(t *testing.T, b []byte, small uint8) {
		b = bytes.ReplaceAll(b, []byte("@"), []byte(head("n")))
		b = bytes.ReplaceAll(b, []byte("|"), []byte("\r\n--B"))
		want, wantErr := standardParts(bytes.NewReader(b))
		if wantErr == nil && !complete(b) {
			wantErr = io.ErrUnexpectedEOF
		}
		for name, src := range map[string]io.Reader{
			"complete": bytes.NewReader(b), "halves": iotest.HalfReader(bytes.NewReader(b)),
			"bytes": iotest.OneByteReader(bytes.NewReader(b)), "end": iotest.DataErrReader(bytes.NewReader(b)),
		} {
			size := bufferSize
			if small > 0 && name != "complete" {
				size = 512 + int(small)
			}
			got, err := partsBuffered(src, "B", size)
			var m *MalformedError
			if err != nil && !errors.As(err, &m) {
				t.Fatalf("%s: error %v, want a MalformedError", name, err)
			}
			if err != nil && wantErr == nil && framing(m.Reason) {
				t.Fatalf("%s: only this package rejects the body: %v", name, err)
			}
			if err == nil && wantErr != nil && !lenient(wantErr) {
				t.Fatalf("%s: only mime/multipart rejects the body: %v", name, wantErr)
			}
			if err == nil && wantErr == nil && strings.Join(got, "\x00") != strings.Join(want, "\x00") {
				t.Fatalf("%s: parts = %q, want %q", name, got, want)
			}
		}
	})
}

// framing reports whether reason is about framing. Errors about headers can differ between the readers, because this
// package has stricter rules for headers.
func framing(reason string) bool {
	return !strings.Contains(reason, "header") && !strings.Contains(reason, "Content-Disposition") && !strings.Contains(reason, "too long")
}

// lenient reports whether err is a mime/multipart error for input that this package accepts. mime/multipart restricts
// the characters in headers and limits lines to 4 KiB.
func lenient(err error) bool {
	return strings.Contains(err.Error(), "malformed MIME header") || strings.Contains(err.Error(), "buffer full")
}

// complete reports whether mime/multipart finds a final boundary. mime/multipart also returns io.EOF for a body that
// is truncated inside a header. To detect that, complete appends a line break and a read error, which are never
// reached if the body is complete.
func complete(b []byte) bool {
	for _, newline := range []string{"", "\n", "\r\n"} {
		end := iotest.ErrReader(errors.New("read beyond the final boundary"))
		if _, err := standardParts(io.MultiReader(bytes.NewReader(b), strings.NewReader(newline), end)); err == nil {
			return true
		}
	}
	return false
}

// standardParts is like parts but reads the body with mime/multipart.
func standardParts(src io.Reader) ([]string, error) {
	r := multipart.NewReader(src, "B")
	var out []string
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return out, err
		}
		d, _ := parseDisposition(p.Header.Get("Content-Disposition"))
		out = append(out, d.name+"="+string(content))
	}
}

func FuzzDisposition(f *testing.F) {
	for _, seed := range []string{
		`form-data; name="a"; filename="b.pdf"`, `form-data; name=files[]; filename=my deed.pdf`, `form-data; name="a"; filename="C:\d\"`,
		`form-data; name="a"; filename="a\"b\\.pdf"; filename*=UTF-8''%e2%82%ac`, `form-data; name="a"; filename*=ISO-8859-1'en'%e9`,
		`form-data;;name=a;`,
		`form-data; name="a"; filename="=?UTF-8?B?TmHDr3Zl?= =?iso-8859-1?q?=e9_?=.pdf"`,
		`form-data; name="a"; filename="=?UTF-8?Q?=C3?= =?x?b?"`,
		`form-data; name="a"; filename*0*=UTF-8''a%20; filename*1="b"; filename*2*=%c3%a9`,
		`form-data; name="a"; filename*0=a; filename*2=b; filename="c"`,
		`form-data; name="a"; filename="%22%0d%0A%2"`, "form-data; name=\"a\"; filename=\"\xe9\"", `form-data; name="a`, `; =`, "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		d, ok := parseDisposition(header)
		if !ok {
			if d != (disposition{}) {
				t.Fatalf("rejected header: parseDisposition = %+v, want the zero value", d)
			}
			return
		}
		if !utf8.ValidString(d.filename) || !d.hasFilename && d.filename != "" {
			t.Fatalf("parseDisposition = %+v, want valid UTF-8, and no filename without hasFilename", d)
		}
		// If the values contain no characters that browsers escape, a header in the browser format returns the same
		// values.
		if !strings.ContainsAny(d.name+d.filename, "\"%\\\r\n") && !strings.Contains(d.filename, "=?") {
			again, ok := parseDisposition(`form-data; name="` + d.name + `"; filename="` + d.filename + `"`)
			if !ok || again.name != d.name || again.filename != d.filename {
				t.Fatalf("formatted and parsed again = %+v, %t; want %+v", again, ok, d)
			}
		}
		if _, _, _, err := Boundary(header); err != nil {
			var m *MalformedError
			if !errors.As(err, &m) {
				t.Fatalf("Boundary: error %v, want a MalformedError", err)
			}
		}
	})
}

func FuzzFilename(f *testing.F) {
	for _, seed := range []string{
		"", ".", "..", "a.pdf", `C:\x\y.pdf`, "../../etc/passwd", "a\x00\u202e.pdf", "\xe9\x81.pdf", strings.Repeat("é", 200) + ".pdf",
		strings.Repeat("a", 300), "a." + strings.Repeat("b", 300), strings.Repeat("😀", 80) + "." + strings.Repeat("x", 251), "\u2066/\u2069",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := Filename(raw)
		bad := func(r rune) bool {
			return unicode.IsControl(r) || r == '/' || r == '\\' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
		}
		if got == "" || got == "." || got == ".." || len(got) > 255 || !utf8.ValidString(got) || strings.ContainsFunc(got, bad) {
			t.Fatalf("Filename(%q) = %q, want a safe name of 1 to 255 bytes", raw, got)
		}
		if again := Filename(got); again != got {
			t.Fatalf("Filename(%q) = %q, want it unchanged", got, again)
		}
	})
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"", "a=1&b=2", "a+b=%C3%a9&&=", "%", "a=%4", "&&&", "a==b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		pairs, err := ParseForm(b)
		var m *MalformedError
		var l *LimitError
		if err != nil && (pairs != nil || !errors.As(err, &m) && !errors.As(err, &l)) {
			t.Fatalf("ParseForm = %v, %v; want a MalformedError or a LimitError and no pairs", pairs, err)
		}
		for _, p := range pairs {
			if n, present, ok := Integer(p.Value); (!present || !ok) && n != 0 {
				t.Fatalf("Integer(%q) = %d, want 0 without an integer", p.Value, n)
			}
		}
	})
}

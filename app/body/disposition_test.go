package body

import (
	"strings"
	"testing"
)

func TestDisposition(t *testing.T) {
	rows := []struct {
		name, in string
		want     string // name|label, name alone without a filename, ! when refused
	}{
		{"field", `form-data; name="a"`, "a"},
		{"type by case", `Form-Data; NAME=a`, "a"},
		{"unquoted array", `form-data; name=files[]; filename=deed.pdf`, "files[]|deed.pdf"},
		{"unquoted blanks", `form-data; name=files[]; filename= my deed of 2019.pdf `, "files[]|my deed of 2019.pdf"},
		{"blanks everywhere", "form-data ;\tname = \"a\" ; filename = \"b.pdf\" ;", "a|b.pdf"},
		{"no blanks", `form-data;name="a";filename="b.pdf"`, "a|b.pdf"},
		{"semicolon in quotes", `form-data; name="a"; filename="b;c=d.pdf"`, "a|b;c=d.pdf"},
		{"filename first", `form-data; filename="b.pdf"; name="a"`, "a|b.pdf"},
		{"empty filename", `form-data; name="a"; filename=""`, "a|unnamed"},
		{"unknown parameter", `form-data; name="a"; x="y"`, "a"},
		{"curl's quote", `form-data; name="a"; filename="a\"b.pdf"`, `a|a"b.pdf`},
		{"curl's backslash", `form-data; name="a"; filename="a\\\"b.pdf"`, `a|"b.pdf`},
		{"browser's quote", `form-data; name="a"; filename="a%22b%0D%0a%25.pdf"`, `a|a"b%25.pdf`},
		{"nested percent", `form-data; name="a"; filename="%2%0D2.pdf"`, "a|%22.pdf"},
		{"path of IE", `form-data; name="a"; filename="C:\dir\new\a.pdf"`, "a|a.pdf"},
		{"path of a share", `form-data; name="a"; filename="\\srv\x\a.pdf"`, "a|a.pdf"},
		{"path, unquoted", `form-data; name=a; filename=C:\x\y.pdf`, "a|y.pdf"},
		{"backslash at the end", `form-data; name="a"; filename="b\"`, "a|unnamed"},
		{"backslash at the end, more behind", `form-data; filename="C:\dir\"; name="a"`, "a|unnamed"},
		{"two backslashes at the end", `form-data; filename="a\\"; name="a"`, "a|unnamed"},
		{"extended", `form-data; name="a"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.pdf`, "a|naïve €.pdf"},
		{"extended wins behind", `form-data; name="a"; filename="x.pdf"; filename*=utf-8'en'y.pdf`, "a|y.pdf"},
		{"extended wins before", `form-data; name="a"; filename*=utf-8'en'y.pdf; filename="x.pdf"`, "a|y.pdf"},
		{"extended in quotes", `form-data; name="a"; FileName*="utf-8''y%2e.pdf"`, "a|y..pdf"},
		{"extended latin", `form-data; name="a"; filename*=ISO-8859-1''%e9%80.pdf`, "a|é€.pdf"},
		{"extended, percent 22 is data", `form-data; name="a"; filename*=UTF-8''%2522.pdf`, "a|%22.pdf"},
		{"extended, path", `form-data; name="a"; filename*=UTF-8''..%2f..%5Cb.pdf`, "a|b.pdf"},
		{"extended unknown charset", `form-data; name="a"; filename="x.pdf"; filename*=utf-7''y.pdf`, "a|x.pdf"},
		{"extended bad percent", `form-data; name="a"; filename="x.pdf"; filename*=utf-8''%zz.pdf`, "a|x.pdf"},
		{"extended bad UTF-8", `form-data; name="a"; filename="x.pdf"; filename*=utf-8''%ff.pdf`, "a|x.pdf"},
		{"extended without a charset", `form-data; name="a"; filename*=y.pdf`, "a|y.pdf"},
		{"extended, an apostrophe", `form-data; name="a"; filename*=o'neil.pdf`, "a|o'neil.pdf"},
		{"raw UTF-8", `form-data; name="a"; filename="naïve.pdf"`, "a|naïve.pdf"},
		{"raw Windows-1252", "form-data; name=\"a\"; filename=\"na\xefve \x80.pdf\"", "a|naïve €.pdf"},
		{"mixed", "form-data; name=\"a\"; filename=\"é\xe9.pdf\"", "a|éé.pdf"},
		{"same twice", `form-data; name="a"; name=a; filename=b; filename="b"`, "a|b"},

		{"empty", ``, "!"},
		{"another type", `attachment; name="a"`, "!"},
		{"no type", `name="a"`, "!"},
		{"no name", `form-data`, ""},
		{"no name but a filename", `form-data; filename="x"`, "|x"},
		{"name without a value", `form-data; name`, "!"},
		{"empty name", `form-data; name=""`, ""},
		{"open quote", `form-data; name="a`, "!"},
		{"text behind a quote", `form-data; name="a"b`, "!"},
		{"two names", `form-data; name="a"; name="b"`, "!"},
		{"two filenames", `form-data; name="a"; filename="b"; filename="c"`, "!"},
		{"rest of a filename", `form-data; name="a"; filename=b;c.pdf`, "!"},
		{"value without a key", `form-data; name="a"; ="b"`, "!"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, ok := parseDisposition(row.in)
			got := d.name
			if d.hasFilename {
				got += "|" + Filename(d.filename)
			}
			if !ok {
				got = "!"
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestFilename(t *testing.T) {
	long := strings.Repeat("a", 300)
	rows := []struct{ name, in, want string }{
		{"plain", "deed.pdf", "deed.pdf"},
		{"path", "/etc/passwd", "passwd"},
		{"path of Windows", `C:\x\y.pdf`, "y.pdf"},
		{"mixed path", `a\b/c\d.pdf`, "d.pdf"},
		{"ends in a slash", "dir/", "unnamed"},
		{"empty", "", "unnamed"},
		{"dot", ".", "unnamed"},
		{"dots", `..\..`, "unnamed"},
		{"three dots", "...", "..."},
		{"hidden", ".env", ".env"},
		{"blanks stay", " a b .pdf ", " a b .pdf "},
		{"device of Windows stays", "CON", "CON"},
		{"controls", "a\x00b\r\n\x7f\u0085c.pdf", "abc.pdf"},
		{"only controls", "\x00\x01", "unnamed"},
		{"dots after controls", "\x00.\x01.", "unnamed"},
		{"bidi", "a\u202efdp.exe\u202c\u2066\u2069", "afdp.exe"},
		{"direction marks stay", "\u200fשטר.pdf", "\u200fשטר.pdf"},
		{"decomposed stays", "e\u0301.pdf", "e\u0301.pdf"},
		{"Windows-1252", "\x93a\x94\xff.pdf", "“a”ÿ.pdf"},
		{"exactly 255", long[:251] + ".pdf", long[:251] + ".pdf"},
		{"256", long[:252] + ".pdf", long[:251] + ".pdf"},
		{"cut at a character", strings.Repeat("é", 200) + ".pdf", strings.Repeat("é", 125) + ".pdf"},
		{"no extension", long, long[:255]},
		{"long extension", "é." + long[:249], "é." + long[:249]},
		{"longest extension kept", long + "." + long[:250], "aaaa." + long[:250]},
		{"extension too long", "abc." + long, "abc." + long[:251]},
		{"dot in front only", "." + long, "." + long[:254]},
		{"dot at the end", long + ".", long[:254] + "."},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := Filename(row.in); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

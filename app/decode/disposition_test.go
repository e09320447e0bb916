package decode

import (
	"strings"
	"testing"
)

func TestDisposition(t *testing.T) {
	rows := []struct {
		name, in string
		want     string // name|label, name if there is no filename, or ! if the header is rejected
	}{
		{"field", `form-data; name="a"`, "a"},
		{"type by case", `Form-Data; NAME=a`, "a"},
		{"unquoted array", `form-data; name=files[]; filename=deed.pdf`, "files[]|deed.pdf"},
		{"unquoted spaces", `form-data; name=files[]; filename= my deed of 2019.pdf `, "files[]|my deed of 2019.pdf"},
		{"spaces everywhere", "form-data ;\tname = \"a\" ; filename = \"b.pdf\" ;", "a|b.pdf"},
		{"no spaces", `form-data;name="a";filename="b.pdf"`, "a|b.pdf"},
		{"semicolon in quotes", `form-data; name="a"; filename="b;c=d.pdf"`, "a|b;c=d.pdf"},
		{"filename first", `form-data; filename="b.pdf"; name="a"`, "a|b.pdf"},
		{"empty filename", `form-data; name="a"; filename=""`, "a|unnamed"},
		{"unknown parameter", `form-data; name="a"; x="y"`, "a"},
		{"curl's quote", `form-data; name="a"; filename="a\"b.pdf"`, `a|a"b.pdf`},
		{"curl's backslash", `form-data; name="a"; filename="a\\\"b.pdf"`, `a|"b.pdf`},
		{"browser's quote", `form-data; name="a"; filename="a%22b%0D%0a%25.pdf"`, `a|a"b%25.pdf`},
		{"nested percent", `form-data; name="a"; filename="%2%0D2.pdf"`, "a|%22.pdf"},
		{"path from Internet Explorer", `form-data; name="a"; filename="C:\dir\new\a.pdf"`, "a|a.pdf"},
		{"path of a share", `form-data; name="a"; filename="\\srv\x\a.pdf"`, "a|a.pdf"},
		{"path, unquoted", `form-data; name=a; filename=C:\x\y.pdf`, "a|y.pdf"},
		{"backslash at the end", `form-data; name="a"; filename="b\"`, "a|unnamed"},
		{"backslash at the end, followed by a parameter", `form-data; filename="C:\dir\"; name="a"`, "a|unnamed"},
		{"two backslashes at the end", `form-data; filename="a\\"; name="a"`, "a|unnamed"},
		{"extended", `form-data; name="a"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.pdf`, "a|naïve €.pdf"},
		{"extended after plain has precedence", `form-data; name="a"; filename="x.pdf"; filename*=utf-8'en'y.pdf`, "a|y.pdf"},
		{"extended before plain has precedence", `form-data; name="a"; filename*=utf-8'en'y.pdf; filename="x.pdf"`, "a|y.pdf"},
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
		{"encoded word", `form-data; name="a"; filename="=?UTF-8?B?TmHDr3ZlIOKCrC5wZGY=?="`, "a|Naïve €.pdf"},
		{"encoded word, quoted", `form-data; name="a"; filename="=?utf-8?q?Na=C3=AFve_2019=2Epdf?="`, "a|Naïve 2019.pdf"},
		{"encoded words", `form-data; name="a"; filename="=?UTF-8?B?TmHDr3Zl?= =?UTF-8?B?IDIwMTkucGRm?="`, "a|Naïve 2019.pdf"},
		{"encoded words, folded",
			"form-data; name=\"a\"; filename=\"=?UTF-8?B?TmHDr3Zl?=\t=?iso-8859-1?Q?=E9?= =?UTF-8?B?IDIwMTkucGRm?=\"", "a|Naïveé 2019.pdf"},
		{"encoded word among text", `form-data; name="a"; filename="Deed =?UTF-8?Q?=E2=82=AC?= 5.pdf"`, "a|Deed € 5.pdf"},
		{"encoded word, extension behind", `form-data; name="a"; filename="=?UTF-8?Q?=E2=82=AC?=.pdf"`, "a|€.pdf"},
		{"encoded word, unquoted", `form-data; name=a; filename==?UTF-8?Q?=E2=82=AC.pdf?=`, "a|€.pdf"},
		{"encoded word of Windows", `form-data; name="a"; filename="=?Windows-1252?Q?=80=E9.pdf?="`, "a|€é.pdf"},
		{"encoded word, path", `form-data; name="a"; filename="=?UTF-8?Q?..=2F..=5Cb.pdf?="`, "a|b.pdf"},
		{"encoded word, controls", `form-data; name="a"; filename="=?UTF-8?Q?a=0D=0A=E2=80=AEb.pdf?="`, "a|ab.pdf"},
		{"encoded word, percent is data", `form-data; name="a"; filename="=?UTF-8?Q?a%22=E2=82=AC.pdf?="`, "a|a%22€.pdf"},
		{"encoded word of an unknown charset", `form-data; name="a"; filename="=?utf-7?Q?a.pdf?="`, "a|=?utf-7?Q?a.pdf?="},
		{"encoded word that is cut", `form-data; name="a"; filename="=?UTF-8?B?TmHD"`, "a|=?UTF-8?B?TmHD"},
		{"encoded word, bad base64", `form-data; name="a"; filename="=?UTF-8?B?a?=.pdf"`, "a|=?UTF-8?B?a?=.pdf"},
		{"encoded word, half a character", `form-data; name="a"; filename="=?UTF-8?Q?=C3?= =?UTF-8?Q?=A9?=.pdf"`,
			"a|=?UTF-8?Q?=C3?= =?UTF-8?Q?=A9?=.pdf"},
		{"encoded word, one good and one bad", `form-data; name="a"; filename="=?UTF-8?Q?a?= =?x?Q?b?="`, "a|=?UTF-8?Q?a?= =?x?Q?b?="},
		{"encoded word, one good and one cut", `form-data; name="a"; filename="=?UTF-8?Q?a?= =?UTF-8?Q?b"`, "a|=?UTF-8?Q?a?= =?UTF-8?Q?b"},
		{"equals and question mark", `form-data; name="a"; filename="a=?b.pdf"`, "a|a=?b.pdf"},
		{"continued", `form-data; name="a"; filename*0="my "; filename*1="deed.pdf"`, "a|my deed.pdf"},
		{"continued, encoded", `form-data; name="a"; filename*0*=UTF-8''na%C3%AF; filename*1*=ve%20; filename*2*=%E2%82%AC.pdf`, "a|naïve €.pdf"},
		{"continued, mixed", `form-data; name="a"; filename*0*=UTF-8'en'%E2%82; filename*1*=%AC; filename*2=" 5%25.pdf"`, "a|€ 5%25.pdf"},
		{"continued, encoded behind", `form-data; name="a"; filename*0="a%41"; filename*1*=%E2%82%AC.pdf`, "a|a%41€.pdf"},
		{"continued, in another sequence", `form-data; filename*1="b.pdf"; name="a"; filename*0="a"`, "a|ab.pdf"},
		{"continued, one segment", `form-data; name="a"; filename*0*=UTF-8''%E2%82%AC.pdf`, "a|€.pdf"},
		{"continued, more than ten",
			`form-data; name="a"; filename*0=a; filename*1=b; filename*2=c; filename*3=d; filename*4=e; filename*5=f; filename*6=g; ` +
				`filename*7=h; filename*8=i; filename*9=j; filename*10=k.pdf`,
			"a|abcdefghijk.pdf"},
		{"continued wins", `form-data; name="a"; filename="x.pdf"; filename*0*=utf-8''y.pdf`, "a|y.pdf"},
		{"extended wins over continued", `form-data; name="a"; filename*=utf-8''x.pdf; filename*0*=utf-8''y.pdf`, "a|x.pdf"},
		{"continued wins over bad extended", `form-data; name="a"; filename*=utf-7''x.pdf; filename*0*=utf-8''y.pdf`, "a|y.pdf"},
		{"continued, latin", `form-data; name="a"; filename*0*=ISO-8859-1''%e9; filename*1=.pdf`, "a|é.pdf"},
		{"continued, a segment missing", `form-data; name="a"; filename*0*=UTF-8''a%20; filename*2*=c.pdf`, "a|UTF-8''a%20c.pdf"},
		{"continued, a segment missing before the last",
			`form-data; name="a"; filename*0=a; filename*2=b; filename*3=c.pdf; filename="x.pdf"`, "a|x.pdf"},
		{"continued, the first missing", `form-data; name="a"; filename="x.pdf"; filename*1=y.pdf`, "a|x.pdf"},
		{"continued, bad percent", `form-data; name="a"; filename*0*=UTF-8''a%2; filename*1*=zb.pdf`, "a|UTF-8''a%2zb.pdf"},
		{"continued, bad UTF-8", `form-data; name="a"; filename="x.pdf"; filename*0*=UTF-8''%ff.pdf`, "a|x.pdf"},
		{"continued, unknown charset", `form-data; name="a"; filename*0*=utf-7''y.pdf`, "a|utf-7''y.pdf"},
		{"continued, path", `form-data; name="a"; filename*0*=UTF-8''..%2f; filename*1="..\b.pdf"`, "a|b.pdf"},
		{"continued, encoded words", `form-data; name="a"; filename*0="=?UTF-8?Q?=E2=82"; filename*1="=AC.pdf?="`, "a|€.pdf"},
		{"continued, a zero in front", `form-data; name="a"; filename*00=y.pdf`, "a"},
		{"continued, segment twice", `form-data; name="a"; filename*0=a; filename*0=b`, "!"},
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
		{"spaces stay", " a b .pdf ", " a b .pdf "},
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

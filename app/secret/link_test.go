package secret

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	linkNow  = time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	linkUpTo = linkNow.Add(5 * time.Minute)
)

// linkNames are filenames to sign. Those that can't be the end of a path become
// `unnamed`.
var linkNames = map[string]string{
	"plain":     "deed.pdf",
	"blanks":    "deed of trust (1).pdf",
	"unicode":   "Grundstück 契約 🏠.pdf",
	"slashes":   "a/b\\c/../d.pdf",
	"percent":   "100%25 %2F%zz.pdf",
	"markup":    `"<script>&'?#;=+,:@$!*.pdf`,
	"no UTF-8":  "\xff\xfe\x80.pdf",
	"controls":  "a\x00b\r\nX: y.pdf",
	"dots":      "...",
	"one dot":   ".",
	"two dots":  "..",
	"empty":     "",
	"long":      strings.Repeat("ü", 127),
	"tilde etc": "-._~",
}

func TestLinkVector(t *testing.T) {
	const want = "/dl/42/1780027500/44QM4OJD9wH7oVXlTBSQh08fj_D4fR3V-6FziDq6AD8/deed%201%C3%BC.pdf"
	got := testKeys(t).Links().Sign(Link{File: 42, Filename: "deed 1ü.pdf", Expires: linkUpTo.Add(999 * time.Millisecond)})
	if got != want {
		t.Errorf("link = %s, want %s", got, want)
	}
}

func TestLinkRoundTrip(t *testing.T) {
	links := testKeys(t).Links()
	for name, filename := range linkNames {
		t.Run(name, func(t *testing.T) {
			path := links.Sign(Link{File: 42, Filename: filename, Expires: linkUpTo})
			got, err := links.Parse(path, "", linkNow)
			if want := (Link{42, safeFilename(filename), linkUpTo}); err != nil || got != want {
				t.Errorf("Parse = %+v, %v, want %+v", got, err, want)
			}
			if strings.Count(path, "/") != 5 || strings.ContainsAny(path, "?#\\ ") {
				t.Errorf("Sign = %q, want a path of five segments without special characters", path)
			}
		})
	}
}

func TestLinkExpiry(t *testing.T) {
	links := testKeys(t).Links()
	path := links.Sign(Link{File: 42, Filename: "deed.pdf", Expires: linkUpTo})
	for _, row := range []struct {
		name string
		now  time.Time
		want error
	}{
		{"at once", linkNow, nil},
		{"a second before", linkUpTo.Add(-time.Second), nil},
		{"a nanosecond before", linkUpTo.Add(-1), nil},
		{"at the expiry", linkUpTo, ErrLinkExpired},
		{"a second after", linkUpTo.Add(time.Second), ErrLinkExpired},
		{"in another zone", linkUpTo.In(time.FixedZone("", -5*3600)), ErrLinkExpired},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := links.Parse(path, "", row.now); !errors.Is(err, row.want) {
				t.Errorf("%s: %v, want %v", row.name, err, row.want)
			}
		})
	}
	late := links.Sign(Link{File: 42, Filename: "deed.pdf", Expires: linkNow}) + "x"
	if _, err := links.Parse(late, "", linkUpTo); !errors.Is(err, ErrLinkInvalid) {
		t.Errorf("Parse of a changed, expired link = %v, want %v", err, ErrLinkInvalid)
	}
}

func TestChangedLinkIsRejected(t *testing.T) {
	links := testKeys(t).Links()
	for name, filename := range linkNames {
		path := links.Sign(Link{File: 42, Filename: filename, Expires: linkUpTo})
		for i := range len(path) {
			for _, mask := range masks(name) {
				checkChanged(t, links, name, path, path[:i]+string([]byte{path[i] ^ mask})+path[i+1:])
			}
			checkChanged(t, links, name, path, path[:i]+path[i+1:])
			checkChanged(t, links, name, path, path[:i])
			checkChanged(t, links, name, path, path[:i]+"/"+path[i:])
			checkChanged(t, links, name, path, path[:i]+"%"+strings.ToUpper(strconv.FormatInt(int64(path[i]), 16))+path[i+1:])
		}
		for _, tail := range []string{"/", "%00", "%20", "?", "?a=b", "#", "&", "=", ";x", "/..", "\n"} {
			checkChanged(t, links, name, path, path+tail)
		}
		checkChanged(t, links, name, path, lowerEscapes(path))
		checkChanged(t, links, name, path, "http://deedkeep"+path)
	}
}

// masks returns the changes to apply to each byte of a link: all possible changes for one
// of the links, and each single-bit flip for the others.
func masks(name string) []byte {
	if name != "plain" {
		return []byte{1, 2, 4, 8, 16, 32, 64, 128}
	}
	all := make([]byte, 255)
	for i := range all {
		all[i] = byte(i + 1)
	}
	return all
}

func checkChanged(t *testing.T, links *Links, name, path, changed string) {
	t.Helper()
	if changed == path {
		return
	}
	if link, err := links.Parse(changed, "", linkNow); !errors.Is(err, ErrLinkInvalid) || link != (Link{}) {
		t.Errorf("%s: Parse(%q) = %+v, %v, want %v, as the link is %q", name, changed, link, err, ErrLinkInvalid, path)
	}
}

func lowerEscapes(path string) string {
	parts := strings.SplitAfter(path, "%")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
	}
	return strings.Join(parts, "")
}

func TestSignatureCoversAllParts(t *testing.T) {
	links := testKeys(t).Links()
	link := Link{File: 42, Filename: "deed.pdf", Expires: linkUpTo}
	signed := strings.Split(links.Sign(link), "/")
	other, err := NewKeys(testRand(1))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	for name, otherLink := range map[string]string{
		"another file":         links.Sign(Link{43, link.Filename, link.Expires}),
		"another name":         links.Sign(Link{link.File, "deed.exe", link.Expires}),
		"another expiry":       links.Sign(Link{link.File, link.Filename, link.Expires.Add(time.Hour)}),
		"name of a path":       links.Sign(Link{link.File, "x/deed.pdf", link.Expires}),
		"another installation": other.Links().Sign(link),
	} {
		parts := strings.Split(otherLink, "/")
		if parts[4] == signed[4] {
			t.Errorf("%s: signature is the same, want another", name)
		}
		parts[4] = signed[4]
		if moved := strings.Join(parts, "/"); moved != strings.Join(signed, "/") {
			checkChanged(t, links, name, "", moved)
		}
	}
	for _, file := range []int64{0, -1} {
		checkChanged(t, links, "number", "", links.Sign(Link{file, link.Filename, link.Expires}))
	}
}

func TestLinkRejectsQuery(t *testing.T) {
	links := testKeys(t).Links()
	path := links.Sign(Link{File: 42, Filename: "a b/ü?.pdf", Expires: linkUpTo})
	for _, query := range []string{"a=b", "&", "=", "download=1", "expires=9999999999", "%20"} {
		if _, err := links.Parse(path, query, linkNow); !errors.Is(err, ErrLinkInvalid) {
			t.Errorf("Parse with query %q = %v, want %v", query, err, ErrLinkInvalid)
		}
	}
}

// TestLinkThroughHTTP checks that a link passes through a real client, server, and mux
// unchanged and without a redirect.
func TestLinkThroughHTTP(t *testing.T) {
	links := testKeys(t).Links()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dl/", func(w http.ResponseWriter, r *http.Request) {
		if _, err := links.Parse(r.URL.EscapedPath(), r.URL.RawQuery, linkNow); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for name, filename := range linkNames {
		path := links.Sign(Link{File: 42, Filename: filename, Expires: linkUpTo})
		for tail, want := range map[string]int{"": http.StatusOK, "?x": http.StatusForbidden} {
			response, err := client.Get(server.URL + path + tail)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := response.Body.Close(); err != nil || response.StatusCode != want {
				t.Errorf("%s with %q: status = %s, %v, want %d", name, tail, response.Status, err, want)
			}
		}
	}
}

func FuzzLink(f *testing.F) {
	links := testKeys(f).Links()
	for _, filename := range linkNames {
		f.Add(links.Sign(Link{File: 42, Filename: filename, Expires: linkUpTo}), filename)
	}
	f.Add("/dl/1/2/3/4", "x")
	f.Fuzz(func(t *testing.T, path, filename string) {
		if link, err := links.Parse(path, "", linkNow); err == nil && links.Sign(link) != path {
			t.Errorf("Parse accepted %q, want only the canonical link", path)
		}
		want := Link{7, safeFilename(filename), linkUpTo}
		if got, err := links.Parse(links.Sign(want), "", linkNow); err != nil || got != want {
			t.Errorf("Parse(Sign(%q)) = %+v, %v, want %+v", filename, got, err, want)
		}
	})
}

// TestLinkSignedByWrongClock checks that a link signed while the clock was ahead is
// rejected until its remaining lifetime is within the limit.
func TestLinkSignedByWrongClock(t *testing.T) {
	keys := testKeys(t)
	const ttl = 5 * time.Minute
	path := keys.Links().Sign(Link{File: 7, Filename: "a.pdf", Expires: linkNow.Add(ttl)})
	for _, row := range []struct {
		now  time.Time
		want error
	}{{linkNow, nil}, {linkNow.Add(-time.Minute), nil}, {linkNow.Add(-time.Minute - time.Second), ErrLinkExpired},
		{linkNow.Add(-24 * time.Hour), ErrLinkExpired}, {linkNow.Add(ttl - time.Second), nil}, {linkNow.Add(ttl), ErrLinkExpired}} {
		if _, err := keys.Links().WithMaxTTL(ttl).Parse(path, "", row.now); !errors.Is(err, row.want) {
			t.Errorf("Parse at %s = %v, want %v", row.now, err, row.want)
		}
	}
	if _, err := keys.Links().WithMaxTTL(0).Parse(path, "", linkNow.Add(-24*time.Hour)); err != nil {
		t.Errorf("Parse without a limit: %v", err)
	}
}

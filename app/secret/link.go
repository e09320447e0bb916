package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A signed link is a path and nothing else:
//
//	/dl/<file>/<expiry>/<signature>/<filename>
//	    |      |        |           every byte but A-Z a-z 0-9 - . _ ~ as %XX, upper-case hex
//	    |      |        base64url without padding, 43 characters
//	    |      Unix seconds, in decimal digits
//	    number of the file
//
//	signature = HMAC-SHA256(subkey `links`, "dl\n" file "\n" expiry "\n" filename)
//
// There is one spelling: a link is accepted only if signing its parts again gives the same bytes.
const linkRoot = "/dl/"

// linkLeeway is how far a clock may be set back without harm to the links it has signed.
const linkLeeway = time.Minute

var (
	// ErrLinkInvalid is returned for a link that was never signed, or was changed in any byte.
	ErrLinkInvalid = errors.New("the link is not valid")
	// ErrLinkExpired is returned for a link that was signed but whose time is over.
	ErrLinkExpired = errors.New("the link has expired")
)

// Link is what a signed link says: the file's number (1 or more), the name under which it is saved, and the moment,
// to the second, from which it is void. The names "", "." and ".." are signed as `unnamed` (API.md, "filename"):
// as the last segment of a path they would not reach the server.
type Link struct {
	File     int64
	Filename string
	Expires  time.Time
}

// Links signs and checks download links; safe for concurrent use.
type Links struct {
	key [KeySize]byte
	ttl time.Duration // 0: any
}

// WithMaxTTL gives the same links, of which none lives longer than ttl after it is read; 0 is any time.
func (l *Links) WithMaxTTL(ttl time.Duration) *Links { return &Links{key: l.key, ttl: ttl} }

// Links gives the signer of download links.
func (r *Keys) Links() *Links { return &Links{key: r.Subkey("links")} }

// Sign gives the path of the link; an expiry within a second counts from that second's beginning.
func (l *Links) Sign(link Link) string {
	link.Filename = safeSegment(link.Filename)
	file := strconv.FormatInt(link.File, 10)
	expiry := strconv.FormatInt(link.Expires.Unix(), 10)
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte("dl\n" + file + "\n" + expiry + "\n" + link.Filename))
	signature := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return linkRoot + file + "/" + expiry + "/" + signature + "/" + escapeSegment(link.Filename)
}

// Parse reads a request's escaped path and raw query at the moment now: ErrLinkInvalid unless the path is byte for
// byte what Sign gave and the query is empty, then ErrLinkExpired unless now is before the expiry, and no further from
// it than a link lives (Within): such a one was signed by a clock that was wrong.
func (l *Links) Parse(escapedPath, rawQuery string, now time.Time) (Link, error) {
	link, ok := splitLink(escapedPath)
	if !ok || rawQuery != "" || !hmac.Equal([]byte(l.Sign(link)), []byte(escapedPath)) {
		return Link{}, ErrLinkInvalid
	}
	if !now.Before(link.Expires) || l.ttl > 0 && link.Expires.Sub(now) > l.ttl+linkLeeway {
		return Link{}, ErrLinkExpired
	}
	return link, nil
}

// ParseURL is Parse for a request's URL; it also refuses the empty query of a bare `?`, and a fragment.
func (l *Links) ParseURL(address *url.URL, now time.Time) (Link, error) {
	if address.ForceQuery || address.Fragment != "" {
		return Link{}, ErrLinkInvalid
	}
	return l.Parse(address.EscapedPath(), address.RawQuery, now)
}

// splitLink reads the parts without judging their spelling: the comparison in Parse does that for all at once.
func splitLink(path string) (Link, bool) {
	rest, rooted := strings.CutPrefix(path, linkRoot)
	parts := strings.Split(rest, "/")
	if !rooted || len(parts) != 4 {
		return Link{}, false
	}
	file, fileErr := strconv.ParseInt(parts[0], 10, 64)
	expiry, expiryErr := strconv.ParseInt(parts[1], 10, 64)
	name, nameErr := url.PathUnescape(parts[3])
	if fileErr != nil || expiryErr != nil || nameErr != nil || file < 1 {
		return Link{}, false
	}
	return Link{File: file, Filename: name, Expires: time.Unix(expiry, 0).UTC()}, true
}

func safeSegment(name string) string {
	if name == "" || name == "." || name == ".." {
		return "unnamed"
	}
	return name
}

// escapeSegment is stricter than url.PathEscape, so that no client has a byte left to spell in its own way.
func escapeSegment(name string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(name) {
		c := name[i]
		if strings.IndexByte(base62Digits+"-._~", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return out.String()
}

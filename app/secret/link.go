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

// A signed link is a path:
//
//	/dl/<file>/<expiry>/<signature>/<filename>
//	    |      |        |           every byte but A-Z a-z 0-9 - . _ ~ as %XX, upper-case hex
//	    |      |        base64url without padding, 43 characters
//	    |      Unix seconds, in decimal digits
//	    ID of the file
//
//	signature = HMAC-SHA256(subkey `links`, "dl\n" file "\n" expiry "\n" filename)
//
// A link has one spelling: it is valid only if signing its parts produces the same bytes.
const linkPrefix = "/dl/"

// linkClockSkew is how far the clock may be set back without invalidating signed links.
const linkClockSkew = time.Minute

var (
	// ErrLinkInvalid is returned for a link that was never signed, or was changed.
	ErrLinkInvalid = errors.New("the link is not valid")
	// ErrLinkExpired is returned for a signed link that has expired.
	ErrLinkExpired = errors.New("the link has expired")
)

// Link is the content of a signed link: the ID of the file (1 or more), the filename for
// the download, and the time, in full seconds, at which it expires. The names "", ".",
// and ".." are signed as `unnamed`, because clients and proxies remove such a path
// segment.
type Link struct {
	File     int64
	Filename string
	Expires  time.Time
}

// Links signs and verifies download links. It is safe for concurrent use.
type Links struct {
	key [KeySize]byte
	ttl time.Duration // max remaining lifetime; 0: no limit
}

// WithMaxTTL returns Links that reject links whose remaining lifetime exceeds ttl; 0
// means no limit.
func (l *Links) WithMaxTTL(ttl time.Duration) *Links { return &Links{key: l.key, ttl: ttl} }

// Links returns the signer of download links.
func (k *Keys) Links() *Links { return &Links{key: k.Subkey("links")} }

// Sign returns the path of the link. A fraction of a second in the expiry is dropped.
func (l *Links) Sign(link Link) string {
	link.Filename = safeFilename(link.Filename)
	file := strconv.FormatInt(link.File, 10)
	expiry := strconv.FormatInt(link.Expires.Unix(), 10)
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte("dl\n" + file + "\n" + expiry + "\n" + link.Filename))
	signature := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return linkPrefix + file + "/" + expiry + "/" + signature + "/" + escapeSegment(link.Filename)
}

// Parse verifies the escaped path and raw query of a request. It returns ErrLinkInvalid
// unless the path is byte for byte a result of Sign and the query is empty. It returns
// ErrLinkExpired unless now is before the expiry, and not further before it than the
// maximum lifetime (WithMaxTTL): such a link was signed while the clock was wrong.
func (l *Links) Parse(escapedPath, rawQuery string, now time.Time) (Link, error) {
	link, ok := parseLinkPath(escapedPath)
	if !ok || rawQuery != "" || !hmac.Equal([]byte(l.Sign(link)), []byte(escapedPath)) {
		return Link{}, ErrLinkInvalid
	}
	if !now.Before(link.Expires) || l.ttl > 0 && link.Expires.Sub(now) > l.ttl+linkClockSkew {
		return Link{}, ErrLinkExpired
	}
	return link, nil
}

// ParseURL is Parse for the URL of a request. It also rejects the empty query of a
// trailing `?`, and a fragment.
func (l *Links) ParseURL(address *url.URL, now time.Time) (Link, error) {
	if address.ForceQuery || address.Fragment != "" {
		return Link{}, ErrLinkInvalid
	}
	return l.Parse(address.EscapedPath(), address.RawQuery, now)
}

// parseLinkPath returns the parts of a path. It doesn't check their spelling: the
// comparison in Parse does.
func parseLinkPath(path string) (Link, bool) {
	rest, hasPrefix := strings.CutPrefix(path, linkPrefix)
	parts := strings.Split(rest, "/")
	if !hasPrefix || len(parts) != 4 {
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

func safeFilename(name string) string {
	if name == "" || name == "." || name == ".." {
		return "unnamed"
	}
	return name
}

// escapeSegment is stricter than url.PathEscape, so that a filename has only one
// spelling.
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

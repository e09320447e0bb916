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
// Each link has only one valid form: signing its parts must produce exactly the same
// path.
const linkPrefix = "/dl/"

// linkClockSkew is how far the clock may be set back without invalidating links that were
// signed before.
const linkClockSkew = time.Minute

var (
	// ErrLinkInvalid means that the link was never signed or has been changed.
	ErrLinkInvalid = errors.New("invalid link")
	// ErrLinkExpired means that the link was signed but has expired.
	ErrLinkExpired = errors.New("link has expired")
)

// Link is the content of a signed link: the ID of the file (1 or higher), the filename
// for the download, and the expiry time in whole seconds. The filenames "", ".", and ".."
// are replaced by `unnamed`, because clients and proxies remove such path segments.
type Link struct {
	File     int64
	Filename string
	Expires  time.Time
}

// Links signs and verifies download links. It is safe for concurrent use.
type Links struct {
	key [KeySize]byte
	ttl time.Duration // maximum remaining lifetime; 0: no limit
}

// WithMaxTTL returns a Links that rejects links with a remaining lifetime of more than
// ttl. If ttl is 0, there is no limit.
func (l *Links) WithMaxTTL(ttl time.Duration) *Links { return &Links{key: l.key, ttl: ttl} }

// Links returns a Links with a key derived from the secret.
func (k *Keys) Links() *Links { return &Links{key: k.Subkey("links")} }

// Sign returns the path of the link. It drops fractions of a second from the expiry time.
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
// unless the path is exactly what Sign returns and the query is empty. It returns
// ErrLinkExpired if the link has expired. It also returns ErrLinkExpired if the remaining
// lifetime exceeds the maximum (WithMaxTTL), because then the clock was wrong when the
// link was signed.
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

// parseLinkPath splits a path into its parts. It doesn't check how they are escaped,
// because Parse compares the path with the signed one.
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

// escapeSegment escapes more characters than url.PathEscape, so that every filename has
// only one valid form.
func escapeSegment(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

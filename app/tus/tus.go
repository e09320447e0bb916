// Package tus reads and writes the headers of tus 1.0.0, the protocol for resumable uploads
// (https://tus.io/protocols/resumable-upload). It supports the core protocol and the
// creation, termination, and expiration extensions. Web pages authenticate with the session
// cookie, and API clients with their API key.
package tus

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Values of tus headers.
const (
	Version    = "1.0.0"
	Extensions = "creation,termination,expiration"
	MediaType  = "application/offset+octet-stream" // Content-Type of a PATCH request
)

// Error is returned for a request that violates the protocol.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

// SetOptions sets the headers that describe what the server supports. maxSize is the
// maximum upload size in bytes.
func SetOptions(h http.Header, maxSize int64) {
	h.Set("Tus-Resumable", Version)
	h.Set("Tus-Version", Version)
	h.Set("Tus-Extension", Extensions)
	h.Set("Tus-Max-Size", strconv.FormatInt(maxSize, 10))
}

// CheckVersion returns an error unless the request has the supported version of tus. It
// ignores GET requests, which are not part of tus.
func CheckVersion(method string, h http.Header) error {
	if method != http.MethodGet && h.Get("Tus-Resumable") != Version {
		return &Error{http.StatusPreconditionFailed, "The Tus-Resumable header must be " + Version + ", the version of tus that the server supports."}
	}
	return nil
}

// ParseLength returns the size in bytes of the document to be uploaded. It rejects the parts of an upload that the
// client wants to concatenate later: without that extension, each part would become a document.
func ParseLength(h http.Header) (int64, error) {
	if len(h.Values("Upload-Concat")) > 0 {
		return 0, &Error{http.StatusBadRequest, "The server doesn't support the concatenation extension of tus. " +
			"Send the document as one upload, without Upload-Concat."}
	}
	n, ok := number(h, "Upload-Length")
	if !ok {
		return 0, &Error{http.StatusBadRequest, "The Upload-Length header must be the number of bytes in the document."}
	}
	return n, nil
}

// ParseOffset returns the offset in the document at which the body of a PATCH request
// starts.
func ParseOffset(h http.Header) (int64, error) {
	if media, _, _ := strings.Cut(h.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), MediaType) {
		return 0, &Error{http.StatusUnsupportedMediaType, "The Content-Type must be " + MediaType + "."}
	}
	n, ok := number(h, "Upload-Offset")
	if !ok {
		return 0, &Error{http.StatusBadRequest, "The Upload-Offset header must be the number of bytes before the ones in this request."}
	}
	return n, nil
}

func number(h http.Header, name string) (int64, bool) {
	n, err := strconv.ParseUint(h.Get(name), 10, 63)
	return int64(n), err == nil
}

// ParseMetadata parses the Upload-Metadata header, which has the form "name base64,name
// base64,…".
func ParseMetadata(h http.Header) (map[string]string, error) {
	meta := map[string]string{}
	for pair := range strings.SplitSeq(strings.Join(h.Values("Upload-Metadata"), ","), ",") {
		name, coded, _ := strings.Cut(strings.TrimSpace(pair), " ")
		value, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return nil, &Error{http.StatusBadRequest, "The Upload-Metadata header must be pairs of a name and a value in base64, separated by commas."}
		}
		if name != "" {
			meta[name] = string(value)
		}
	}
	return meta, nil
}

// ProgressHeaders returns the headers that say how many bytes have been received and when
// the upload expires.
func ProgressHeaders(offset int64, until time.Time) map[string]string {
	return map[string]string{"Upload-Offset": strconv.FormatInt(offset, 10), "Upload-Expires": until.UTC().Format(http.TimeFormat)}
}

// InterruptReads makes reads of the request body fail after stopping is closed, until stop
// is called. It sets the deadline repeatedly, because a read that starts at the same moment
// may extend it once.
func InterruptReads(w http.ResponseWriter, stopping <-chan struct{}) (stop func()) {
	control := http.NewResponseController(w)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ended:
			return
		case <-stopping:
		}
		repeat := time.NewTicker(100 * time.Millisecond)
		defer repeat.Stop()
		for {
			// An error means that deadlines aren't supported, so there is no network
			// connection.
			_ = control.SetReadDeadline(time.Unix(1, 0))
			select {
			case <-ended:
				return
			case <-repeat.C:
			}
		}
	}()
	return func() { close(ended); <-done }
}

package httpx

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/auth"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/tus"
	"deedkeep/app/upload"
	"deedkeep/app/vault/storage"
)

// Error is an error of the HTTP protocol. Only the transports create it; the packages that they call don't know about
// HTTP.
type Error struct {
	Status  int
	Message string
	Header  map[string]string // additional response headers
}

func (e *Error) Error() string { return e.Message }

// Unsupported returns a 415 error.
func Unsupported(message string) error {
	return &Error{Status: http.StatusUnsupportedMediaType, Message: message}
}

// TooLarge returns the 413 error for a request body that is larger than limit bytes.
func TooLarge(limit int64) error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("The request body must not be larger than %d bytes.", limit)}
}

// IsTooLarge reports whether err is a 413 error. In that case, reading the rest of the body is not worthwhile.
func IsTooLarge(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge
}

var (
	errIncomplete = &Error{Status: http.StatusBadRequest, Message: "The request body ended before its declared length."}
	errTooSlow    = &Error{Status: http.StatusRequestTimeout, Message: "The request body arrived too slowly."}
	// ErrHost is returned if the Host header is malformed.
	ErrHost = &Error{Status: http.StatusBadRequest, Message: "The Host header is malformed."}
)

// StatusByKind maps error kinds to HTTP statuses.
var StatusByKind = map[errs.Kind]int{
	errs.Invalid:             http.StatusUnprocessableEntity,
	errs.Unauthenticated:     http.StatusUnauthorized,
	errs.Forbidden:           http.StatusForbidden,
	errs.NotFound:            http.StatusNotFound,
	errs.Conflict:            http.StatusConflict,
	errs.InsufficientStorage: http.StatusInsufficientStorage,
	errs.Unavailable:         http.StatusServiceUnavailable,
	errs.PreconditionFailed:  http.StatusPreconditionFailed,
	errs.Locked:              http.StatusLocked,
}

// codeByStatus maps statuses to values of the X-Error-Code header. API clients check these codes instead of error
// messages, so the codes must never change. An Error may set its own code, such as CodeRunning.
var codeByStatus = map[int]string{
	http.StatusBadRequest:            "malformed_request",
	http.StatusUnauthorized:          "unauthenticated",
	http.StatusForbidden:             "forbidden",
	http.StatusNotFound:              "not_found",
	http.StatusMethodNotAllowed:      "method_not_allowed",
	http.StatusRequestTimeout:        "request_timeout",
	http.StatusConflict:              "conflict",
	http.StatusPreconditionFailed:    "precondition_failed",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusUnsupportedMediaType:  "unsupported_media_type",
	http.StatusMisdirectedRequest:    "misdirected_request",
	http.StatusUnprocessableEntity:   "validation_failed",
	http.StatusLocked:                "locked",
	http.StatusTooManyRequests:       "rate_limited",
	http.StatusInternalServerError:   "server_error",
	http.StatusServiceUnavailable:    "unavailable",
	http.StatusInsufficientStorage:   "storage_full",
}

// CodeRunning is the code of a 409 that is returned while a request with the same Idempotency-Key is still running.
// Unlike with other conflicts, the client may retry.
const CodeRunning = "request_in_progress"

// CodeDamaged is the code of a 500 that is returned because the stored copy of a document is damaged.
const CodeDamaged = "file_damaged"

// ErrorCode returns the code for a status. If the status has no code, ErrorCode returns the code for server errors.
func ErrorCode(status int) string {
	return cmp.Or(codeByStatus[status], codeByStatus[http.StatusInternalServerError])
}

// TranslateError maps err to a status, a response body, and additional headers. Every transport that sends JSON uses
// it, so an error has the same status and message everywhere. An unknown error becomes a 500 that reveals no details.
func TranslateError(err error) (int, apitypes.Failure, map[string]string) {
	var (
		httpErr   *Error
		named     *errs.Error
		malformed *decode.MalformedError
		limit     *decode.LimitError
		tooLong   *http.MaxBytesError
		signIn    *auth.SignInError
		tusErr    *tus.Error
		damaged   *storage.DamagedError
	)
	switch {
	case errors.As(err, &tusErr):
		return translateTus(tusErr)
	case errors.Is(err, ErrTooSlow):
		return errTooSlow.Status, apitypes.Failure{Message: errTooSlow.Message}, nil
	case errors.Is(err, ErrIncomplete):
		return errIncomplete.Status, apitypes.Failure{Message: errIncomplete.Message}, nil
	case errors.As(err, &httpErr):
		return httpErr.Status, apitypes.Failure{Message: httpErr.Message}, httpErr.Header
	case errors.As(err, &tooLong):
		return TranslateError(TooLarge(tooLong.Limit))
	case errors.As(err, &limit):
		return http.StatusRequestEntityTooLarge, apitypes.Failure{Message: limit.Error()}, nil
	case errors.As(err, &malformed):
		return http.StatusBadRequest, apitypes.Failure{Message: malformed.Error()}, nil
	case errors.As(err, &signIn) && signIn.Wait > 0:
		return http.StatusTooManyRequests, apitypes.Failure{Message: signIn.Error()}, map[string]string{
			"Retry-After": strconv.Itoa(int(signIn.Wait / time.Second)),
		}
	case errors.As(err, &damaged):
		return http.StatusInternalServerError, serverError, map[string]string{apitypes.ErrorCode: CodeDamaged}
	case errors.As(err, &named) && StatusByKind[named.Kind] != 0:
		return statusOf(named), apitypes.Failure{Message: named.Message, Errors: fieldErrors(named.Fields)}, nil
	}
	return http.StatusInternalServerError, serverError, nil
}

// serverError is the response to unexpected errors, whose details only the log has.
var serverError = apitypes.Failure{Message: "Server error."}

// statusOf returns the status for an error. ErrUploadBusy is a conflict in the vault, but its HTTP status is 423
// because the client may retry the request.
func statusOf(err *errs.Error) int {
	if errors.Is(err, upload.ErrUploadBusy) {
		return http.StatusLocked
	}
	return StatusByKind[err.Kind]
}

func translateTus(err *tus.Error) (int, apitypes.Failure, map[string]string) {
	var header map[string]string
	if err.Status == http.StatusPreconditionFailed {
		header = map[string]string{"Tus-Version": tus.Version}
	}
	return err.Status, apitypes.Failure{Message: err.Message}, header
}

func fieldErrors(fields errs.Fields) apitypes.FieldErrors {
	var list apitypes.FieldErrors
	for _, f := range fields {
		for _, sentence := range f.Sentences() {
			list.Add(f.Field, sentence)
		}
	}
	return list
}

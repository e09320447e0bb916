package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/tus"
	"deedkeep/app/vault"
)

// refusal is a failure of HTTP itself, which no floor below knows of.
type refusal struct {
	status  int
	message string
	header  map[string]string
}

func (r *refusal) Error() string { return r.message }

func unsupported(message string) error {
	return &refusal{status: http.StatusUnsupportedMediaType, message: message}
}

// isTooLarge reports a body that is not worth reading to its end.
func isTooLarge(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == http.StatusRequestEntityTooLarge
}

func tooLarge(limit int64) error {
	return &refusal{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("The request body must not be larger than %d bytes.", limit)}
}

var (
	errBrokeOff  = &refusal{status: http.StatusBadRequest, message: "The request body broke off before its end."}
	errTooSlow   = &refusal{status: http.StatusRequestTimeout, message: "The request body arrived too slowly."}
	errHost      = &refusal{status: http.StatusBadRequest, message: "The Host header is malformed."}
	errForbidden = &errs.Error{Kind: errs.Forbidden, Message: "This API key is not authorized for the Developer API."}
)

// kinds is the table of the failures that come from below.
var kinds = map[errs.Kind]int{
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

// codes is the table of what X-Error-Code says, by status: for programs, which must not
// match on sentences. A code stays what it is; a refusal may carry one of its own,
// such as CodeRunning.
var codes = map[int]string{
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
	http.StatusUnprocessableEntity:   "validation_failed",
	http.StatusLocked:                "locked",
	http.StatusTooManyRequests:       "rate_limited",
	http.StatusInternalServerError:   "server_error",
	http.StatusServiceUnavailable:    "unavailable",
	http.StatusInsufficientStorage:   "storage_full",
}

// CodeRunning is the code of a 409 about a request with the same Idempotency-Key that
// is still running: unlike a conflict, it passes.
const CodeRunning = "request_in_progress"

// ErrorCode gives the code of a status; a status that has none is an error of the server.
func ErrorCode(status int) string {
	return cmp.Or(codes[status], codes[http.StatusInternalServerError])
}

// headers that belong to a status, whatever raised it.
var statusHeaders = map[int]map[string]string{
	http.StatusUnauthorized:       {"WWW-Authenticate": "Bearer"},
	http.StatusServiceUnavailable: {"Retry-After": "10"},
}

// fail writes what API.md says of an error. What is our fault goes to the log and
// shows nothing of the inside.
func (e *edge) fail(c *gin.Context, err error) {
	status, failure, header := translate(err)
	switch {
	case c.Request.Context().Err() != nil:
		e.Log.DebugContext(c.Request.Context(), "the client left", "error", err, "request_id", requestID(c))
	case status == http.StatusInsufficientStorage, status == http.StatusServiceUnavailable:
		e.Log.WarnContext(c.Request.Context(), "request refused", "error", err, "status", status, "request_id", requestID(c))
	case status >= http.StatusInternalServerError:
		e.Log.ErrorContext(c.Request.Context(), "request failed", "error", err, "status", status, "request_id", requestID(c))
	}
	c.Header(apitypes.ErrorCode, ErrorCode(status))
	for _, set := range []map[string]string{statusHeaders[status], header} {
		for name, value := range set {
			c.Header(name, value)
		}
	}
	e.write(c, status, failure)
	c.Abort()
}

// translate is the one mapping from errors to statuses and sentences.
func translate(err error) (int, apitypes.Failure, map[string]string) {
	var (
		r         *refusal
		named     *errs.Error
		malformed *decode.MalformedError
		limit     *decode.LimitError
		long      *http.MaxBytesError
		busy      *vault.SignInError
		protocol  *tus.Error
	)
	switch {
	case errors.As(err, &protocol):
		return translateProtocol(protocol)
	case errors.Is(err, httpx.ErrTooSlow):
		return errTooSlow.status, apitypes.Failure{Message: errTooSlow.message}, nil
	case errors.Is(err, httpx.ErrBrokeOff):
		return errBrokeOff.status, apitypes.Failure{Message: errBrokeOff.message}, nil
	case errors.As(err, &r):
		return r.status, apitypes.Failure{Message: r.message}, r.header
	case errors.As(err, &long):
		return translate(tooLarge(long.Limit))
	case errors.As(err, &limit):
		return http.StatusRequestEntityTooLarge, apitypes.Failure{Message: limit.Error()}, nil
	case errors.As(err, &malformed):
		return http.StatusBadRequest, apitypes.Failure{Message: malformed.Error()}, nil
	case errors.As(err, &busy) && busy.Wait > 0: // it passes by itself
		return http.StatusTooManyRequests, apitypes.Failure{Message: busy.Error()}, map[string]string{
			"Retry-After": strconv.Itoa(int(busy.Wait / time.Second)),
		}
	case errors.As(err, &named) && kinds[named.Kind] != 0:
		return statusOf(named), apitypes.Failure{Message: named.Message, Errors: fieldErrors(named.Fields)}, nil
	}
	return http.StatusInternalServerError, apitypes.Failure{Message: "Server error."}, nil
}

// statusOf is that of the table; an upload that another request writes is locked, which
// passes, while a conflict stays.
func statusOf(named *errs.Error) int {
	if errors.Is(named, vault.ErrUploadBusy) {
		return http.StatusLocked
	}
	return kinds[named.Kind]
}

// translateProtocol is the answer to a request that is not as tus has it.
func translateProtocol(err *tus.Error) (int, apitypes.Failure, map[string]string) {
	var header map[string]string
	if err.Status == http.StatusPreconditionFailed {
		header = map[string]string{"Tus-Version": tus.Version}
	}
	return err.Status, apitypes.Failure{Message: err.Message}, header
}

func fieldErrors(fields errs.Fields) apitypes.FieldErrors {
	var list apitypes.FieldErrors
	for _, f := range fields {
		for _, sentence := range f.Sentences {
			list.Add(f.Field, sentence)
		}
	}
	return list
}

// tooMany is the answer of a rate: when to come back, and the rate itself.
func tooMany(limit, retryAfter int) error {
	return &refusal{status: http.StatusTooManyRequests, message: "Too many requests.", header: map[string]string{
		"Retry-After":           strconv.Itoa(retryAfter),
		"X-RateLimit-Limit":     strconv.Itoa(limit),
		"X-RateLimit-Remaining": "0",
	}}
}

package api

import (
	"net/http"
	"time"

	"deedkeep/app/httpx"
)

func newPacedBody(w http.ResponseWriter, r *http.Request, limits Limits) *httpx.Body {
	return httpx.NewBody(w, r, httpx.Limits{Stall: limits.Stall, MinRate: limits.MinRate})
}

// Of a known caller's body more is read than of anybody's.
const (
	callersBytes  = 64 << 20
	callersTime   = 10 * time.Second
	anybodysBytes = 1 << 20
	anybodysTime  = time.Second
)

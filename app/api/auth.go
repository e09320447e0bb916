package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/stats"
)

// authenticator checks each request before its handler runs. The checks run in this order:
// Host header, API key, failed-key limit, scope, request rate.
type authenticator struct {
	server *server
	keys   interface {
		Authenticate(ctx context.Context, presented string) (model.Actor, error)
	}
	failing, requests *stats.RateLimiter
}

// authenticate stores the actor and the origin of the request in its context. If a check
// fails, it writes the error response and aborts the request.
func (a *authenticator) authenticate(c *gin.Context) {
	origin, err := a.server.addresses.Origin(c.Request)
	if err == nil && c.Request.Method != http.MethodOptions {
		var actor model.Actor
		actor, err = a.check(c)
		c.Set(actorKey, actor)
	}
	if err != nil {
		body := newBody(c.Writer, c.Request, a.server.Limits)
		bytes, timeout := int64(drainUnknownBytes), drainUnknownTime
		if status, _, _ := httpx.TranslateError(err); status == http.StatusForbidden {
			bytes, timeout = drainKnownBytes, drainKnownTime
		}
		if !body.Drain(bytes, timeout) {
			c.Header("Connection", "close")
		}
		a.server.fail(c, err)
		return
	}
	c.Set(originKey, origin)
}

// check returns the actor of the request, or an error if the request may not use the route.
func (a *authenticator) check(c *gin.Context) (model.Actor, error) {
	if a.server.skipsAuth(c) {
		return model.Actor{}, nil
	}
	presented, given := bearer(c.Request.Header)
	if !given {
		return model.Actor{}, errUnauthenticated
	}
	address := a.server.addresses.ClientAddr(c.Request)
	actor, err := a.keys.Authenticate(c.Request.Context(), presented)
	if errs.KindOf(err) == errs.Unauthenticated {
		if _, retry, ok := a.failing.Allow(model.ClientNetwork(address).String()); !ok {
			return actor, errRateLimited(a.failing.Limit(), retry)
		}
	}
	if err != nil {
		return actor, err
	}
	actor.Address, actor.RequestID = httpx.AddrText(address), requestID(c)
	if ability := missingAbility(actor.Abilities, c.Request.Method, c.FullPath()); ability != "" {
		return actor, errForbidden(ability)
	}
	left, retry, ok := a.requests.Allow(actor.Record())
	if !ok {
		return actor, errRateLimited(a.requests.Limit(), retry)
	}
	if limit := a.requests.Limit(); limit > 0 {
		c.Header("X-RateLimit-Limit", strconv.Itoa(limit))
		c.Header("X-RateLimit-Remaining", strconv.Itoa(left))
	}
	return actor, nil
}

var errUnauthenticated = &errs.Error{Kind: errs.Unauthenticated, Message: "Unauthenticated."}

// bearer returns the bearer token from h. given is false unless h has exactly one
// Authorization header and it uses the Bearer scheme.
func bearer(h http.Header) (key string, given bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	fields := strings.Fields(values[0])
	if len(fields) < 2 || !strings.EqualFold(fields[0], "Bearer") {
		return "", false
	}
	return strings.Join(fields[1:], " "), true
}

// missingAbility returns the ability that a key with these abilities lacks to call method on
// route, or "" if it may. The audit log and the metrics each require a separate ability, which
// full API access does not include.
func missingAbility(abilities []string, method, route string) string {
	required := model.AbilityAPI
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case route == "/v1"+eventsPath, route == "/v1"+streamPath:
		required = model.AbilityEvents
	case route == MetricsPath:
		required = model.AbilityMetrics
	case slices.Contains(abilities, model.AbilityAPI):
		return ""
	case reads:
		required = model.AbilityRead
	}
	if slices.Contains(abilities, required) {
		return ""
	}
	return required
}

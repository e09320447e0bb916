package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

// authenticator is what stands before every route: who is it, and may they (API.md, "order
// of checks").
type authenticator struct {
	server *server
	keys   interface {
		Authenticate(ctx context.Context, presented string) (model.Actor, error)
	}
	failing, requests *rateLimiter
}

// authenticate lets a request in with its actor, or answers for the route.
func (g *authenticator) authenticate(c *gin.Context) {
	origin, err := g.server.addresses.Origin(c.Request)
	if err == nil && c.Request.Method != http.MethodOptions {
		var actor model.Actor
		actor, err = g.check(c)
		c.Set(actorKey, actor)
	}
	if err != nil {
		body := newBody(c.Writer, c.Request, g.server.Limits)
		bytes, within := int64(drainUnknownBytes), drainUnknownTime
		if errs.KindOf(err) == errs.Forbidden {
			bytes, within = drainKnownBytes, drainKnownTime
		}
		if !body.Drain(bytes, within) {
			c.Header("Connection", "close")
		}
		g.server.fail(c, err)
		return
	}
	c.Set(originKey, origin)
}

func (g *authenticator) check(c *gin.Context) (model.Actor, error) {
	if g.server.isOpen(c) {
		return model.Actor{}, nil
	}
	presented, given := bearer(c.Request.Header)
	if !given {
		return model.Actor{}, errUnauthenticated
	}
	address := g.server.addresses.Client(c.Request)
	actor, err := g.keys.Authenticate(c.Request.Context(), presented)
	if errs.KindOf(err) == errs.Unauthenticated {
		if _, retry, ok := g.failing.allow(model.ClientNetwork(address).String()); !ok {
			return actor, tooMany(g.failing.limit, retry)
		}
	}
	if err != nil {
		return actor, err
	}
	actor.Address, actor.RequestID = httpx.AddrText(address), requestID(c)
	if !hasScope(actor.Abilities, c.Request.Method, c.FullPath()) {
		return actor, errForbidden
	}
	return actor, g.limitRate(c, actor)
}

// limitRate counts a request of a key, where that is limited.
func (g *authenticator) limitRate(c *gin.Context, actor model.Actor) error {
	if g.requests.limit <= 0 {
		return nil
	}
	left, retry, ok := g.requests.allow(actor.Record())
	if !ok {
		return tooMany(g.requests.limit, retry)
	}
	rateHeaders(c, g.requests.limit, left)
	return nil
}

var errUnauthenticated = &errs.Error{Kind: errs.Unauthenticated, Message: "Unauthenticated."}

// bearer is the credential of exactly one Authorization header of that scheme.
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

// hasScope says whether a key's abilities cover a method of a route. Who did what, and how
// the service goes, are each for a key of its own kind alone.
func hasScope(abilities []string, method, route string) bool {
	reads := method == http.MethodGet || method == http.MethodHead
	switch route {
	case "/v1" + eventsPath:
		return reads && slices.Contains(abilities, model.AbilityEvents)
	case MetricsPath:
		return reads && slices.Contains(abilities, model.AbilityMetrics)
	}
	if slices.Contains(abilities, model.AbilityAPI) {
		return true
	}
	return reads && slices.Contains(abilities, model.AbilityRead)
}

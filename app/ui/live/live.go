// Package live keeps open pages current. A stream tells a browser which records others change and who has the same page
// open; the scripts of its pages then get what they show again.
package live

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// Pages contains the handlers of this package.
type Pages struct {
	*page.Site
	visits *visits
}

// New returns the handlers of this package.
func New(s *page.Site) *Pages { return &Pages{s, newVisits(s.Now)} }

// Routes returns the routes. Their requests don't extend a session, because scripts send them while the user is away.
func (p *Pages) Routes() []page.Route {
	stream := page.NewRoute("GET /changes", page.Anyone, p.stream) // stream checks it
	visit := page.NewRoute("POST /changes/here", page.MayRead, p.visit)
	stream.Background, visit.Background = true, true
	return []page.Route{stream, visit}
}

// change is what a browser gets about an audit log entry.
type change struct {
	Records []string `json:"records"`          // records that changed, or whose lists did, as in the audit log of the API
	By      string   `json:"by"`               // name of the user or the API key
	Mine    bool     `json:"mine"`             // by the same user, perhaps in another window
	Fields  []string `json:"fields,omitempty"` // fields that changed
}

// ping is a heartbeat. It also tells the pages the newest audit log entry whose changes the stream has sent.
type ping struct {
	Since uint64 `json:"since"`
}

// pingEvery is how often a stream sends a ping and checks the session.
const pingEvery = 15 * time.Second

// stream sends changes until the browser, the session, or its rights are gone.
//
// Without a session, it responds with 204: a browser then doesn't try again, and reports no error.
func (p *Pages) stream(r *page.Request) error {
	if !r.MayRead() {
		r.SetDataHeaders(httpx.EventStreamMedia, httpx.DataPolicy, "no-store")
		r.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	r.W.Header().Set("X-Accel-Buffering", "no") // nginx would collect the response
	r.SetDataHeaders(httpx.EventStreamMedia, httpx.DataPolicy, "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	f, err := p.App.Events.Follow(r.Context())
	if err != nil {
		return err
	}
	defer f.Stop()
	news := p.visits.follow(r.Actor.ID)
	defer p.visits.unfollow(news)
	out := httpx.EventStream{W: r.W, Flush: http.NewResponseController(r.W).Flush}
	if send(out, "ping", ping{f.Since}) == nil { // with the header
		p.follow(r, out, f, news)
	}
	return nil // an error means that the browser is gone
}

func (p *Pages) follow(r *page.Request, out httpx.EventStream, f *audit.Follower, news chan string) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	sent := f.Since
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case e, open := <-f.C:
			if !open {
				return
			}
			if e.Record == r.Actor.Record() && !p.stillSignedIn(r) {
				_ = send(out, "end", struct{}{}) // an error means that the browser is gone
				return
			}
			if c, ok := p.newChange(e, r.Actor); ok {
				err = send(out, "change", c)
			}
			sent = e.Seq
		case path := <-news:
			err = send(out, "here", here{Page: path, People: p.visits.at(path, r.Actor.ID)})
		case <-tick.C:
			if !p.stillSignedIn(r) {
				_ = send(out, "end", struct{}{})
				return
			}
			err = send(out, "ping", ping{sent})
		}
		if err != nil {
			return
		}
	}
}

func send(out httpx.EventStream, kind string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return out.Send("", kind, raw)
}

// stillSignedIn reports whether the user of a request that takes long may still read records.
func (p *Pages) stillSignedIn(r *page.Request) bool {
	now, err := p.SessionVisitor(r)
	return err == nil && now.MayRead()
}

// followed are the types of records that pages show, in the audit log.
var followed = []string{"abstract", "file", "folder", "instrument", "note", "order"}

// newChange returns what a user's pages learn about an audit log entry. ok is false if it is of no use to them.
func (p *Pages) newChange(e *model.Event, to model.Actor) (c change, ok bool) {
	recordType, _, _ := strings.Cut(e.Record, ":")
	if !slices.Contains(followed, recordType) || e.Kind == audit.Opened || e.Kind == audit.Downloaded {
		return c, false
	}
	c = change{Records: []string{p.IDs.Encode(e.Record)}, By: e.Actor.Name, Mine: e.Actor.Is(to)}
	for _, name := range followed {
		if record := e.Detail[name]; strings.HasPrefix(record, name+":") {
			c.Records = append(c.Records, p.IDs.Encode(record))
		}
	}
	for _, changed := range e.Changes {
		if of, isReference := strings.CutSuffix(changed.Field, "_id"); isReference && slices.Contains(followed, of) { // moved
			for _, id := range []uint64{reference(changed.From), reference(changed.To)} {
				if id != 0 {
					c.Records = append(c.Records, p.IDs.Encode(model.RecordRef(of, id)))
				}
			}
		}
		if !slices.Contains(c.Fields, changed.Field) {
			c.Fields = append(c.Fields, changed.Field)
		}
	}
	return c, true
}

// reference returns the ID of a record in a change, or 0 if there is none.
func reference(value []byte) (id uint64) {
	if json.Unmarshal(value, &id) != nil {
		return 0
	}
	return id
}

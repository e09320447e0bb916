package live

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// here says who has a page open and, if the page asks, what changed since an entry of the audit log.
type here struct {
	Page    string   `json:"page"`
	People  []person `json:"people"`
	Since   uint64   `json:"since,omitempty"`   // newest entry of the audit log
	Missed  []change `json:"missed,omitempty"`  // what changed up to it
	Changed bool     `json:"changed,omitempty"` // too much changed to list it
}

// person is someone who has a page open, and the field that they edit, if any.
type person struct {
	Name  string `json:"name"`
	Field string `json:"field"`
}

// visits are the pages that users have open. They are only in memory.
type visits struct {
	now func() time.Time

	mu        sync.Mutex
	open      map[tab]visit
	followers map[chan string]uint64 // values are user IDs
}

// tab is an open page. The browser chooses the ID.
type tab struct {
	user uint64
	id   string
}

type visit struct {
	path, name, field string
	seen              time.Time
}

const (
	visitLasts      = 75 * time.Second // unless the page reports again, which it does every 30 seconds
	maxTabsPerUser  = 100
	maxVisitValue   = 200 // length of a path, a field, or an ID, in bytes
	maxUnsentVisits = 32
)

func newVisits(now func() time.Time) *visits {
	return &visits{now: now, open: map[tab]visit{}, followers: map[chan string]uint64{}}
}

// follow returns a channel with the paths of a user's open pages that someone opens, leaves, or edits another field of. A
// follower that is behind misses some, until the pages report again.
func (v *visits) follow(user uint64) chan string {
	v.mu.Lock()
	defer v.mu.Unlock()
	news := make(chan string, maxUnsentVisits)
	v.followers[news] = user
	return news
}

func (v *visits) unfollow(news chan string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.followers, news)
}

// report records what a tab has open. path is "" if it was closed.
func (v *visits) report(of tab, now visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now.seen = v.now()
	tabs := 0
	for other, known := range v.open {
		if now.seen.Sub(known.seen) > visitLasts {
			delete(v.open, other)
			v.tell(known.path)
		} else if other.user == of.user {
			tabs++
		}
	}
	before, known := v.open[of]
	switch {
	case now.path == "":
		delete(v.open, of)
	case known || tabs < maxTabsPerUser:
		v.open[of] = now
	default:
		return
	}
	if before.path != now.path || before.field != now.field {
		v.tell(before.path)
		if now.path != before.path {
			v.tell(now.path)
		}
	}
}

// tell notifies the followers whose users have the page open. The caller must hold v.mu.
func (v *visits) tell(path string) {
	if path == "" {
		return
	}
	users := map[uint64]bool{}
	for of, known := range v.open {
		if known.path == path {
			users[of.user] = true
		}
	}
	for news, user := range v.followers {
		if !users[user] {
			continue
		}
		select {
		case news <- path:
		default:
		}
	}
}

// at returns who has a page open, other than a user. It returns each person once, with a field if they edit one.
func (v *visits) at(path string, except uint64) []person {
	v.mu.Lock()
	defer v.mu.Unlock()
	byUser := map[uint64]person{}
	for of, known := range v.open {
		if known.path == path && of.user != except && v.now().Sub(known.seen) <= visitLasts {
			if p, ok := byUser[of.user]; !ok || p.Field == "" {
				byUser[of.user] = person{known.name, known.field}
			}
		}
	}
	people := []person{}
	for _, p := range byUser {
		people = append(people, p)
	}
	slices.SortFunc(people, func(a, b person) int { return strings.Compare(a.Name, b.Name) })
	return people
}

// visit records what a page reports: that it is open, and which field the user edits. It responds with who else has it open.
func (p *Pages) visit(r *page.Request) error {
	id, path, field := r.PostForm.Get("tab"), r.PostForm.Get("page"), r.PostForm.Get("field")
	if id == "" || max(len(id), len(path), len(field)) > maxVisitValue || path != "" && !strings.HasPrefix(path, "/") {
		return page.NewHTTPError(http.StatusBadRequest, "Form incomplete", "The form was incomplete. Reload the page.")
	}
	p.visits.report(tab{r.Actor.ID, id}, visit{path: path, name: r.Actor.Name, field: field})
	now := here{Page: path, People: p.visits.at(path, r.Actor.ID)}
	if since, err := strconv.ParseUint(r.PostForm.Get("since"), 10, 63); err == nil {
		if err := p.addMissed(r, since, &now); err != nil {
			return err
		}
	}
	return r.SendJSON(http.StatusOK, now)
}

// maxMissed is the number of entries that are checked for what a page missed. If there are more, or if a backup was restored,
// the page refreshes in any case.
const maxMissed = 100

// addMissed adds what changed after an entry of the audit log.
func (p *Pages) addMissed(r *page.Request, since uint64, now *here) (err error) {
	if now.Since, err = p.App.Events.LastSeq(r.Context()); err != nil {
		return err
	}
	if now.Since < since || now.Since-since > maxMissed {
		now.Changed = true
		return nil
	}
	return p.App.Events.Between(r.Context(), since, now.Since, func(e model.Event) error {
		if c, ok := p.newChange(&e, r.Actor); ok {
			now.Missed = append(now.Missed, c)
		}
		return nil
	})
}

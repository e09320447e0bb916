// Package settings stores the settings that administrators change on pages, with audit entries, and knows which
// settings apply. Those in groups with config.Group.Immediate apply to the running server; the others apply when a server
// starts. A setting that the settings file, the environment, or a flag sets can't be changed.
package settings

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Loader returns the settings of this machine together with the stored ones (see config.Load).
type Loader func(stored map[string]string) (config.Config, error)

// Service knows the settings of a vault. It is safe for concurrent use.
type Service struct {
	db      *txn.DB
	load    Loader
	running config.Config
	images  ImageReader
	mu      sync.Mutex // held while a change is stored and applied, so that both happen in the same sequence
	current atomic.Pointer[applied]
	logo    atomic.Pointer[Logo]

	patterns atomic.Pointer[Patterns]
	trying   sync.Mutex // held while patterns are tried
}

// applied are settings, with values that are parsed once.
type applied struct {
	config.Config
	zone      *time.Location
	retention map[uint64]time.Duration // by template ID
}

// New returns the service. If load is nil, nothing except stored settings applies. images reads uploaded logos.
func New(db *txn.DB, load Loader, images ImageReader) *Service {
	if load == nil {
		load = func(stored map[string]string) (config.Config, error) {
			return config.Load(config.Source{Flags: map[string]string{"data": db.Dir},
				Stored: func(string) (map[string]string, error) { return stored, nil }})
		}
	}
	s := &Service{db: db, load: load, running: config.Default(), images: images}
	s.apply(s.running)
	s.logo.Store(&Logo{})
	s.patterns.Store(PatternsFile{rules: extract.DefaultRules()}.with(""))
	return s
}

// Open reads the stored settings and the county patterns. The settings count as those of the running server.
func (s *Service) Open(ctx context.Context) error {
	err := s.Read(ctx)
	if err != nil {
		if c, errLoad := s.load(nil); errLoad == nil { // the settings file still applies if the database is damaged
			s.apply(c)
		}
	}
	s.running = s.Current()
	return errors.Join(err, s.readPatterns(ctx))
}

// Read reads the stored settings and the logo, and applies the settings that need no restart.
func (s *Service) Read(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.Stored(ctx)
	if err != nil {
		return err
	}
	c, err := s.load(stored)
	if err != nil {
		return err
	}
	s.apply(c)
	image, err := store.Read(ctx, s.db.Store, (*store.Tx).Logo)
	if err == nil {
		logo := newLogo(image)
		s.logo.Store(&logo)
	}
	return err
}

func (s *Service) apply(c config.Config) {
	retention, err := c.Retention.ByTemplate()
	if err != nil {
		panic(err) // can't happen, because config.Load validates the setting
	}
	s.current.Store(&applied{Config: c, zone: c.Location(), retention: retention})
}

// Stored returns the stored settings.
func (s *Service) Stored(ctx context.Context) (map[string]string, error) {
	return store.Read(ctx, s.db.Store, (*store.Tx).Settings)
}

// Current returns the settings that a server would start with now.
func (s *Service) Current() config.Config { return s.current.Load().Config }

// Pending returns the settings that were changed since the server started and that need a restart to apply.
func (s *Service) Pending() (pending []config.Editable) {
	was, is := s.running.Values(), s.Current().Values()
	for _, g := range config.Groups() {
		for _, e := range g.Settings {
			if !g.Immediate && was[e.Key] != is[e.Key] {
				pending = append(pending, e)
			}
		}
	}
	return pending
}

// Location returns the time zone of the office or, if none was chosen, that of this machine.
func (s *Service) Location() *time.Location { return s.current.Load().zone }

// SessionLimits returns the limits of sessions.
func (s *Service) SessionLimits() model.SessionLimits {
	users := &s.current.Load().Users
	return model.SessionLimits{Idle: users.SessionIdle, Max: users.SessionMax}
}

// RequireTwoFactor reports whether all users need two-factor authentication.
func (s *Service) RequireTwoFactor() bool { return s.current.Load().Users.RequireTwoFactor }

// KnownAddress returns how long an address stays known after a sign-in.
func (s *Service) KnownAddress() time.Duration { return s.current.Load().Users.KnownAddress }

// TrashPeriod returns how long records without retention stay in the trash.
func (s *Service) TrashPeriod() time.Duration { return s.current.Load().Trash.Keep }

// Retention returns how long abstracts are retained, and how long those of some templates are, by template ID.
func (s *Service) Retention() (keep time.Duration, templates map[uint64]time.Duration) {
	now := s.current.Load()
	return now.Config.Retention.Keep, now.retention
}

// Version identifies the stored values of the keys, to detect that another user changed them.
func (s *Service) Version(keys []string) string { return version(s.Current().Values(), keys) }

func version(values map[string]string, keys []string) string {
	hash := sha256.New()
	for _, key := range keys {
		hash.Write([]byte(key + "\x00" + values[key] + "\x00"))
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// Change stores new values, in the syntax of environment variables. A value that is blank or the default is no longer
// stored. If seen isn't "", it is the Version of the keys that the user saw. The error is PreconditionFailed if they have changed since
// then, Conflict if a value is set elsewhere, and of type config.Problems if values don't work.
func (s *Service) Change(ctx context.Context, actor model.Actor, values map[string]string, seen string, keys ...string) error {
	return s.change(ctx, actor, values, seen, keys, func(write func(*store.Tx) error) error {
		return s.db.WriteAsAdmin(ctx, actor, nil, write)
	})
}

// ChooseTimeZone stores the time zone of the office for an administrator who is about to sign in for the first time.
func (s *Service) ChooseTimeZone(ctx context.Context, actor model.Actor, name string) error {
	return s.change(ctx, actor, map[string]string{"time_zone": name}, "", nil, func(write func(*store.Tx) error) error {
		return s.db.StoreFromReserve(ctx, nil, write)
	})
}

// GoBack stores the settings of a server that ran, because it can't start with those that are stored. cause says why.
// Settings that took effect without a restart stay as they are. GoBack returns false if nothing else differs.
func (s *Service) GoBack(ctx context.Context, old map[string]string, cause string) (changed bool, err error) {
	stored, err := s.Stored(ctx)
	if err != nil {
		return false, err
	}
	back := restarted(stored, old)
	if maps.Equal(stored, back) {
		return false, nil
	}
	next, err := s.load(back)
	if err != nil {
		return false, err
	}
	return true, s.db.StoreFromReserve(ctx, nil, func(t *store.Tx) error {
		return s.put(t, model.Event{Actor: model.Actor{Kind: "system"}, Detail: map[string]string{"reason": cause}}, back, s.Current(), next)
	})
}

// restarted returns stored with the old values of the settings that need a restart.
func restarted(stored, old map[string]string) map[string]string {
	back := maps.Clone(stored)
	for _, g := range config.Groups() {
		for _, key := range g.Keys() {
			if value, was := old[key]; g.Immediate {
				continue
			} else if was {
				back[key] = value
			} else {
				delete(back, key)
			}
		}
	}
	return back
}

// LogRestart stores an audit entry that says who restarts the server.
func (s *Service) LogRestart(ctx context.Context, actor model.Actor) error {
	return s.db.UpdateAsAdmin(ctx, actor, nil, func(t *store.Tx) error {
		return s.db.AddEvent(t, s.db.Now(), actor, "server.restarted", "", nil)
	})
}

// maxTries is how often change tries to store values that another user changes at the same time.
const maxTries = 5

// change stores the values with a transaction that write runs. It checks them before, because that reads files.
func (s *Service) change(ctx context.Context, actor model.Actor, values map[string]string, seen string, keys []string,
	write func(func(*store.Tx) error) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for try := 1; ; try++ {
		old, err := s.Stored(ctx)
		if err != nil {
			return err
		}
		was, err := s.load(old)
		if err != nil {
			return err
		}
		if seen != "" && version(was.Values(), keys) != seen {
			return errChanged
		}
		stored := maps.Clone(old)
		next, err := s.check(stored, values, was)
		if err != nil {
			return err
		}
		err = write(func(t *store.Tx) error {
			if now, err := t.Settings(); err != nil || !maps.Equal(now, old) {
				return errors.Join(err, errChanged)
			}
			if err := s.checkRetention(t, was, next); err != nil {
				return err
			}
			return s.put(t, model.Event{Actor: actor}, stored, was, next)
		})
		if !errors.Is(err, errChanged) || try == maxTries {
			if err == nil {
				s.apply(next)
			}
			return err
		}
	}
}

var errChanged = &errs.Error{Kind: errs.PreconditionFailed, Message: "These settings were changed in the meantime."}

// checkRetention returns a problem if records could be deleted permanently earlier than before. Only the settings file can do
// that: an administrator's session that someone else uses must not be enough.
func (s *Service) checkRetention(t *store.Tx, was, next config.Config) error {
	key := shortened(next.Retention, was.Retention)
	if key == "" || t.Count(store.CountAbstracts)+t.Count(store.CountTrashed) == 0 {
		return nil
	}
	return config.Problems{{Key: key, Reason: "can't be shortened here once there are abstracts, because records would be deleted " +
		"permanently; set it in config.yaml"}}
}

// shortened returns the key of a setting with which abstracts are kept for a shorter time than with old, or "".
func shortened(r, old config.Retention) string {
	if r.Keep < old.Keep {
		return "retention.keep"
	}
	now, err := r.ByTemplate()
	before, errBefore := old.ByTemplate()
	if err != nil || errBefore != nil {
		return "retention.templates" // not reached: Load validates them
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(now)), slices.Collect(maps.Keys(before))) {
		is, was := r.Keep, old.Keep
		if keep, ok := now[id]; ok {
			is = keep
		}
		if keep, ok := before[id]; ok {
			was = keep
		}
		if is < was {
			return "retention.templates"
		}
	}
	return ""
}

// MaxValueBytes is the maximum length of a stored value. The longest are lists of age public keys.
const MaxValueBytes = 4000

// check sets the values in stored and returns the settings with them.
func (s *Service) check(stored, values map[string]string, was config.Config) (next config.Config, err error) {
	known := map[string]config.Setting{}
	for _, setting := range was.Show() {
		known[setting.Key] = setting
	}
	for key, value := range values {
		value = strings.TrimSpace(value)
		setting, isSetting := known[key]
		switch {
		case isSetting && setting.Fixed() && value == setting.Value:
		case isSetting && setting.Fixed():
			return next, &errs.Error{Kind: errs.Conflict, Message: key + " is set by " + setting.Source + ". Change it there."}
		case value == "" || value == setting.Default:
			delete(stored, key)
		case len(value) > MaxValueBytes:
			return next, config.Problems{{Key: key, Reason: fmt.Sprintf("must have at most %d characters", MaxValueBytes)}}
		default:
			stored[key] = value
		}
	}
	if next, err = s.load(stored); err != nil {
		return next, err
	}
	var problems config.Problems
	for _, p := range next.Ignored() {
		if !slices.Contains(was.Ignored(), p) {
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		return next, problems
	}
	return next, nil
}

// put stores the settings and an audit entry of what changed.
func (s *Service) put(t *store.Tx, entry model.Event, stored map[string]string, was, next config.Config) error {
	entry.At, entry.Kind = s.db.Now(), "settings.changed"
	from, to := was.Values(), next.Values()
	for _, g := range config.Groups() {
		for _, e := range g.Settings {
			if from[e.Key] == to[e.Key] {
				continue
			}
			change := model.TextChange(e.Key, from[e.Key], to[e.Key])
			change.Text = e.Label + ": " + cmp.Or(from[e.Key], "(blank)") + " → " + cmp.Or(to[e.Key], "(blank)")
			entry.Changes = append(entry.Changes, change)
		}
	}
	err := t.PutSettings(stored)
	if err == nil && len(entry.Changes) > 0 {
		err = s.db.AddEntry(t, entry)
	}
	return err
}

// Zone is a time zone to choose from: its IANA name and what US offices call it.
type Zone struct{ Name, Label string }

// USZones returns the time zones of the United States, from east to west.
func USZones() []Zone {
	return []Zone{
		{"America/Puerto_Rico", "Atlantic (Puerto Rico)"}, {"America/New_York", "Eastern"}, {"America/Chicago", "Central"},
		{"America/Denver", "Mountain"}, {"America/Phoenix", "Mountain without daylight saving time (Arizona)"},
		{"America/Los_Angeles", "Pacific"}, {"America/Anchorage", "Alaska"}, {"Pacific/Honolulu", "Hawaii"}, {"Pacific/Guam", "Guam"},
	}
}

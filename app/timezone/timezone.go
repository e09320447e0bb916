// Package timezone stores which time zone the office is in. Dates that people type and times on
// pages and in command output are in this zone. The API uses UTC.
package timezone

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	_ "time/tzdata" // Windows and small containers have no time zone database

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

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

// Load returns the time zone with an IANA name such as America/New_York.
func Load(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not an IANA name", name)
	}
	return time.LoadLocation(name)
}

// Service knows the time zone of the office: the one in the settings file or, if there is none, the
// one that an administrator chose. If there is none either, it is that of this machine.
type Service struct {
	db     *txn.DB
	Fixed  *time.Location // from the settings file; nil if it isn't set there
	chosen atomic.Pointer[time.Location]
}

// New returns the service. fixed is the time zone of the settings file, or nil.
func New(db *txn.DB, fixed *time.Location) *Service { return &Service{db: db, Fixed: fixed} }

// Location returns the time zone.
func (s *Service) Location() *time.Location {
	if s.Fixed != nil {
		return s.Fixed
	}
	if zone := s.chosen.Load(); zone != nil {
		return zone
	}
	return time.Local
}

// Chosen returns the IANA name of the time zone that applies to the vault, or "" if it is that of
// this machine because none was chosen.
func (s *Service) Chosen() string {
	if zone := s.Location(); zone != time.Local {
		return zone.String()
	}
	return ""
}

// Read reads the time zone that an administrator chose. A name that this program doesn't know
// counts as none.
func (s *Service) Read(ctx context.Context) error {
	name, err := store.Read(ctx, s.db.Store, (*store.Tx).TimeZone)
	if err != nil || name == "" {
		return err
	}
	zone, err := Load(name)
	if err != nil {
		s.db.Log.Warn("the time zone of the vault is unknown; using that of this machine", "time_zone", name, "error", err)
		return nil
	}
	s.chosen.Store(zone)
	return nil
}

// Choose stores the office's time zone, an IANA name. It returns Invalid if the name is unknown, and
// Conflict if the settings file has a time zone.
func (s *Service) Choose(ctx context.Context, actor model.Actor, name string) error {
	zone, err := Load(name)
	if err != nil {
		return errs.InvalidField("time_zone", errs.InvalidChoice)
	}
	if s.Fixed != nil {
		return &errs.Error{Kind: errs.Conflict, Message: "The settings file has a time zone. Change it there."}
	}
	err = s.db.WriteAsAdmin(ctx, actor, nil, func(t *store.Tx) error { return Put(t, s.db.Now(), actor, name) })
	if err == nil {
		s.chosen.Store(zone)
	}
	return err
}

// Put stores the office's time zone with an audit entry, unless it is the current one. The name must be
// one that Load accepts. Services that are open know it after Read.
func Put(t *store.Tx, at time.Time, actor model.Actor, name string) error {
	old, err := t.TimeZone()
	if err != nil || name == old {
		return err
	}
	entry := model.Event{At: at, Actor: actor, Kind: "time_zone.changed", Changes: []model.Change{model.TextChange("time_zone", old, name)}}
	entry.Describe(model.Describer{})
	return errors.Join(t.PutTimeZone(name), t.AddEvent(entry))
}

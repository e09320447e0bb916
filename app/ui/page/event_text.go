package page

import (
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// eventText describes a kind of audit event. In the sentence "Kim uploaded the document deed.pdf",
// Words is the verb and Record is the noun before the record's name. Record is "" if Words is the
// complete predicate. Brief is the text in the record's own history; it is "" if the history omits
// this kind.
type eventText struct{ kind, Words, Record, Brief string }

// eventGroup is a group of event kinds under a common heading.
type eventGroup struct {
	Group string
	Words []eventText
}

// EventTexts lists the event kinds, grouped as in the filter of the activity page. Kinds that are
// not in the list are shown by name.
var EventTexts = []eventGroup{
	{"Documents", []eventText{
		{"file.filed", "uploaded", "document", "uploaded"}, {"file.opened", "opened", "document", "opened"},
		{"file.downloaded", "downloaded", "document", "downloaded"},
		{"file.changed", "renamed or moved", "document", "renamed"},
		{"file.detached", "removed from its abstract:", "document", "deleted"},
		{"file.trashed", "deleted", "document", "deleted"},
		{"file.restored", "restored", "document", "restored"},
		{"file.damaged", "found damage in", "document", "found damage in"},
		{"file.page_turned", "rotated pages of", "document", "rotated pages"},
		{"file.text_read", "read the scanned pages of", "document", "read the scanned pages"},
		{"file.retried", "reprocessed", "document", "reprocessed"}, {"file.purged", "permanently deleted", "document", ""},
	}},
	{"Searches", []eventText{{"search.asked", "searched (search terms are not logged)", "", ""}}},
	{"Abstracts", []eventText{
		{"abstract.created", "created", "abstract", "created this abstract"}, {"abstract.changed", "changed", "abstract", "changed"},
		{"abstract.trashed", "deleted", "abstract", "deleted this abstract"},
		{"abstract.restored", "restored", "abstract", "restored this abstract"},
		{"abstract.purged", "permanently deleted", "abstract", ""},
	}},
	{"Title work", []eventText{
		{"order_link.changed", "linked an order to", "abstract", "linked an order"},
		{"order_link.removed", "unlinked the order from", "abstract", "unlinked the order"},
		{"assignment.changed", "changed the searcher, examiner, or due date of", "abstract",
			"changed the searcher, examiner, or due date"},
		{"names_run.changed", "changed the names run of", "abstract", "changed the names run"},
		{"requirements.changed", "changed the requirements and exceptions of", "abstract", "changed the requirements and exceptions"},
		{"certificate.created", "certified the search of", "abstract", "certified the search"},
		{"certificate.voided", "voided a search certificate of", "abstract", "voided a search certificate"},
		{"abstract.brought_down", "created the bring-down", "abstract", "created this bring-down"},
		{"runsheet.downloaded", "downloaded the runsheet of", "abstract", "downloaded the runsheet"},
		{"runsheet.reordered", "reordered the runsheet of", "abstract", "reordered the runsheet"},
		{"instrument.created", "added", "instrument", "added"}, {"instrument.changed", "changed", "instrument", "changed"},
		{"instrument.trashed", "deleted", "instrument", "deleted"}, {"instrument.restored", "restored", "instrument", "restored"},
		{"instrument.purged", "permanently deleted", "instrument", ""},
		{"note.created", "added a note to", "record", "added a note"}, {"note.changed", "changed a note on", "record", "changed a note"},
		{"note.deleted", "deleted a note on", "record", "deleted a note"}, {"note.restored", "restored a note on", "record", "restored a note"},
		{"note.purged", "permanently deleted a note on", "record", ""},
		{"document_types.changed", "changed the document types", "", ""}, {"phrases.changed", "changed the phrases", "", ""},
	}},
	{"Orders", []eventText{
		{"order.created", "created", "order", "created this order"}, {"order.changed", "changed", "order", "changed"},
		{"order.trashed", "deleted", "order", "deleted this order"},
		{"order.restored", "restored", "order", "restored this order"}, {"order.purged", "permanently deleted", "order", ""},
	}},
	{"Lists", []eventText{
		{"view.created", "saved", "view", ""}, {"view.changed", "changed", "view", ""}, {"view.deleted", "deleted", "view", ""},
		{"columns.changed", "chose the columns of a list", "", ""}, {"list.downloaded", "downloaded a list", "", ""},
	}},
	{"Trash", []eventText{
		{"trash.emptied", "emptied the trash", "", ""}, {"retention.lifted", "lifted retention for", "record", ""},
	}},
	{"Folders", []eventText{
		{"folder.created", "created", "folder", ""}, {"folder.changed", "renamed or moved", "folder", ""},
		{"folder.removed", "removed", "folder", ""},
	}},
	{"Sign-in", []eventText{
		{"session.started", "signed in", "", ""}, {"session.ended", "signed out", "", ""},
		{"session.refused", "failed to sign in", "as", ""},
	}},
	{"Users", []eventText{
		{"user.created", "created", "user", ""}, {"user.renamed", "renamed", "user", ""},
		{"user.role_changed", "changed the role of", "user", ""}, {"user.profile_changed", "changed the name and title of", "user", ""},
		{"user.away_changed", "changed the absence of", "user", ""},
		{"user.disabled", "disabled", "user", ""}, {"user.enabled", "enabled", "user", ""},
		{"user.reset", "created a reset link for", "user", ""},
		{"user.password_set", "set the password of", "user", ""}, {"user.password_changed", "changed the password of", "user", ""},
		{"user.second_factor_added", "turned on two-factor authentication for", "user", ""},
		{"user.second_factor_removed", "turned off two-factor authentication for", "user", ""},
		{"user.second_factor_clock_reset", "resynced two-factor authentication for", "user", ""},
		{"user.recovery_codes_made", "created recovery codes for", "user", ""},
	}},
	{"API keys", []eventText{
		{"key.created", "created", "API key", ""}, {"key.revoked", "revoked", "API key", ""}, {"key.rotated", "rotated", "API key", ""},
	}},
	{"Templates and fields", []eventText{
		{"template.created", "created", "template", ""}, {"template.changed", "changed", "template", ""},
		{"template.retired", "retired", "template", ""},
		{"order_fields.changed", "changed the order fields", "", ""}, {"order_statuses.changed", "changed the order statuses", "", ""},
	}},
	{"Backups and maintenance", []eventText{
		{"backup.created", "created a backup", "", ""}, {"backup.pruned", "pruned old backups", "", ""},
		{"backup.restored", "restored a backup", "", ""},
		{"settings.changed", "changed settings", "", ""}, {"server.restarted", "restarted the server", "", ""},
		{"time_zone.changed", "changed the time zone", "", ""},
		{"vault.created", "initialized the data directory", "", ""},
		{"vault.upgraded", "upgraded the database", "", ""}, {"vault.rolled_back", "restored the database from before an upgrade", "", ""},
		{"vault.marked_example", "started to fill the vault with an example firm", "", ""},
		{"vault.repaired", "repaired the database", "", ""},
		{"search.reindexed", "rebuilt the search index", "", ""},
	}},
}

// EventTextOf returns the text for an event.
func EventTextOf(e model.Event) eventText {
	text := eventTextOf(e.Kind)
	if e.Detail["created_from"] != "" { // pages of other documents
		text.Words, text.Brief = "created", "created"
	}
	return text
}

func eventTextOf(kind string) eventText {
	for _, g := range EventTexts {
		if at := slices.IndexFunc(g.Words, func(w eventText) bool { return w.kind == kind }); at >= 0 {
			return g.Words[at]
		}
	}
	return eventText{kind: kind, Words: kind, Record: "record"}
}

// RecordType returns the noun before the record's name. If the text applies to several record
// types, it returns the type of the record named of.
func (e eventText) RecordType(of string) string {
	recordType, _, _ := strings.Cut(of, ":")
	if e.Record != "record" {
		return e.Record
	}
	return RecordLabel(recordType)
}

// Choice returns the label of the kind in the filter of the activity page.
func (e eventText) Choice() string {
	words := strings.TrimSuffix(e.Words, ":")
	if e.Record != "" && e.Record != "as" {
		words += " · " + e.Record
	}
	return UpperFirst(words)
}

// Kind returns the name of the kind in the audit log.
func (e eventText) Kind() string { return e.kind }

// ActorText returns the display name of an actor.
func ActorText(a model.Actor) string {
	name := a.Name
	switch a.Kind {
	case model.ActorUser:
		return name
	case model.ActorKey:
		return "API key " + name
	case model.ActorLink:
		return "Download link"
	case "operator":
		if name == "" {
			return "An administrator (command line)"
		}
		return name + " (command line)"
	case "visitor":
		return "Unknown user"
	case "system":
		return "System"
	}
	return strings.TrimSpace(a.Kind + " " + name)
}

// detailTexts lists the event details that are shown. All other details would repeat the event's
// text or its record. The text "one" is used if the value is 1 and "words" doesn't fit; "-" hides
// the detail if the value is 0 or 1.
var detailTexts = []struct{ name, words, one string }{
	{"reason", "%s", ""}, {"tries", "%s attempts", ""}, {"count", "and %s more times", "and 1 more time"},
	{"records", "%s records", "1 record"}, {"files", "with %s documents", "with 1 document"},
	{"kept", "%s kept by the retention setting", ""}, {"role", "as %s", ""}, {"by", "with the setup link", ""}, {"abilities", "permissions: %s", ""},
	{"snapshot", "snapshot %s", ""}, {"to", "to %s", ""}, {"from", "from %s", ""}, {"removed", "%s", ""},
	{"undo", "with Undo", "with Undo"}, {"created_from", "from %s", ""},
	{"recovery_codes_left", "with a recovery code (%s left)", "with a recovery code (1 left)"}, {"sessions", "%s sessions ended", "-"},
}

// EventDetails returns the display texts of an event's details. It ignores details that are not in
// detailTexts.
func EventDetails(detail map[string]string) (list []string) {
	for _, d := range detailTexts {
		switch value := detail[d.name]; {
		case (value == "0" || value == "1") && d.one == "-":
		case value == "1" && d.one != "":
			list = append(list, d.one)
		case value != "":
			list = append(list, strings.Replace(d.words, "%s", value, 1))
		}
	}
	return list
}

// ChangeTexts returns the changes of an audit entry in words. Entries of older versions have no words:
// defs, the custom fields of the record, and names, the names that records have now, are for them.
func ChangeTexts(e model.Event, defs []model.Field, names map[string]vault.RecordName) []string {
	if texts := e.Texts(); len(texts) > 0 {
		return texts
	}
	e.Changes = slices.Clone(e.Changes)
	e.Describe(model.Describer{Custom: defs, Name: func(record string) string { return names[record].Text }})
	return e.Texts()
}

// UnnamedRecords returns the records that entries of older versions refer to, which have no names.
func UnnamedRecords(events []model.Event) (records []string) {
	for _, e := range events {
		if e.Names == nil {
			records = append(records, e.Record, e.Detail["abstract"])
		}
		for _, c := range e.Changes {
			if c.Text == "" {
				records = append(records, c.Records()...)
			}
		}
	}
	return records
}

// EventRecordName returns the name that the record of an entry had, or the one that it has now if the
// entry is from an older version.
func EventRecordName(e model.Event, record string, names map[string]vault.RecordName) string {
	if name := e.Names[record]; name != "" {
		return name
	}
	return names[record].Text
}

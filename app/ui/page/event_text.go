package page

import (
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/model"
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
		{"file.filed", "filed", "document", "filed"}, {"file.opened", "opened", "document", "read"},
		{"file.downloaded", "downloaded", "document", "downloaded"},
		{"file.changed", "renamed or moved", "document", "renamed"},
		{"file.detached", "took off its abstract, into the trash,", "document", "moved to the trash:"},
		{"file.trashed", "moved to the trash", "document", "moved to the trash:"},
		{"file.restored", "restored from the trash", "document", "took out of the trash:"},
		{"file.damaged", "found damage in", "document", "found damage in"},
		{"file.retried", "had read again", "document", "had read again:"}, {"file.purged", "permanently deleted", "document", ""},
	}},
	{"Searches", []eventText{{"search.asked", "searched (the log never records the words)", "", ""}}},
	{"Abstracts", []eventText{
		{"abstract.created", "made", "abstract", "made this abstract"}, {"abstract.changed", "changed", "abstract", "changed"},
		{"abstract.trashed", "moved to the trash", "abstract", "moved it to the trash"},
		{"abstract.restored", "restored from the trash", "abstract", "took it out of the trash"},
		{"abstract.purged", "permanently deleted", "abstract", ""},
	}},
	{"Orders", []eventText{
		{"order.created", "made", "order", "made this order"}, {"order.changed", "changed", "order", "changed"},
		{"order.trashed", "moved to the trash", "order", "moved it to the trash"},
		{"order.restored", "restored from the trash", "order", "took it out of the trash"}, {"order.purged", "permanently deleted", "order", ""},
	}},
	{"Trash", []eventText{
		{"trash.emptied", "emptied the trash", "", ""}, {"retention.lifted", "lifted the retention of", "record", ""},
	}},
	{"Folders", []eventText{
		{"folder.created", "made", "folder", ""}, {"folder.changed", "renamed or moved", "folder", ""},
		{"folder.removed", "removed", "folder", ""},
	}},
	{"Signing in", []eventText{
		{"session.started", "signed in", "", ""}, {"session.ended", "signed out", "", ""},
		{"session.refused", "was refused at signing in", "as", ""},
	}},
	{"Users", []eventText{
		{"user.created", "added", "user", ""}, {"user.renamed", "renamed", "user", ""}, {"user.role_changed", "changed the role of", "user", ""},
		{"user.disabled", "disabled", "user", ""}, {"user.enabled", "enabled", "user", ""}, {"user.reset", "made a reset link for", "user", ""},
		{"user.password_set", "chose a password for", "user", ""}, {"user.password_changed", "changed the password of", "user", ""},
		{"user.second_factor_added", "added a second factor for", "user", ""},
		{"user.second_factor_removed", "removed the second factor of", "user", ""},
		{"user.second_factor_clock_reset", "set the clock of the second factor right for", "user", ""},
		{"user.recovery_codes_made", "made recovery codes for", "user", ""},
	}},
	{"API keys", []eventText{
		{"key.created", "made", "API key", ""}, {"key.revoked", "revoked", "API key", ""}, {"key.rotated", "made a successor of", "API key", ""},
	}},
	{"Templates and fields", []eventText{
		{"template.created", "made", "template", ""}, {"template.changed", "changed", "template", ""},
		{"template.retired", "retired", "template", ""},
		{"order_fields.changed", "changed the fields of orders", "", ""}, {"order_statuses.changed", "changed the statuses of orders", "", ""},
	}},
	{"Backups and the vault", []eventText{
		{"backup.created", "made a backup", "", ""}, {"backup.pruned", "removed old backups", "", ""},
		{"backup.restored", "restored a backup", "", ""},
		{"vault.created", "made the vault", "", ""}, {"vault.repaired", "repaired the vault's indexes", "", ""},
		{"search.reindexed", "had the search index made anew", "", ""},
	}},
}

// EventTextOf returns the text for an event kind.
func EventTextOf(kind string) eventText {
	for _, g := range EventTexts {
		if at := slices.IndexFunc(g.Words, func(w eventText) bool { return w.kind == kind }); at >= 0 {
			return g.Words[at]
		}
	}
	return eventText{kind: kind, Words: kind, Record: "record"}
}

// RecordType returns the noun before the record's name. If the text applies to several record
// types, it returns the type of the record named of.
func (w eventText) RecordType(of string) string {
	recordType, _, _ := strings.Cut(of, ":")
	switch {
	case w.Record != "record":
		return w.Record
	case recordType == "file":
		return "document"
	}
	return recordType
}

// Choice returns the label of the kind in the filter of the activity page.
func (w eventText) Choice() string {
	words := strings.TrimSuffix(w.Words, ",")
	if w.Record != "" {
		words += " · " + w.Record
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// Kind returns the name of the kind in the audit log.
func (w eventText) Kind() string { return w.kind }

// ActorText returns the display name of an actor.
func ActorText(a model.Actor) string {
	name := a.Name
	switch a.Kind {
	case model.ActorUser:
		return name
	case model.ActorKey:
		return "API key " + name
	case model.ActorLink:
		return "Somebody with a link"
	case "operator":
		if name == "" {
			return "The operator of the machine"
		}
		return name + ", at the machine"
	case "visitor":
		return "Somebody"
	case "system":
		return "deedkeep itself"
	}
	return strings.TrimSpace(a.Kind + " " + name)
}

// detailTexts lists the event details that are shown. All other details would repeat the event's
// text or its record. The text "one" is used if the value is 1 and "words" doesn't fit; "-" hides
// the detail then.
var detailTexts = []struct{ name, words, one string }{
	{"reason", "%s", ""}, {"tries", "%s tries", ""}, {"count", "and %s times more", "and once more"},
	{"records", "%s records", "1 record"}, {"files", "with %s documents", "with 1 document"},
	{"kept", "%s kept by the retention setting", ""}, {"role", "as %s", ""}, {"by", "by %s", ""}, {"abilities", "may %s", ""},
	{"snapshot", "snapshot %s", ""}, {"to", "to %s", ""}, {"from", "from %s", ""}, {"removed", "%s", ""},
	{"recovery_codes_left", "by a recovery code; %s are left", "by a recovery code; 1 is left"}, {"sessions", "%s sessions", "-"},
}

// EventDetails returns the display texts of an event's details. It ignores details that are not in
// detailTexts.
func EventDetails(detail map[string]string) (list []string) {
	for _, d := range detailTexts {
		switch value := detail[d.name]; {
		case value == "1" && d.one == "-":
		case value == "1" && d.one != "":
			list = append(list, d.one)
		case value != "":
			list = append(list, fmt.Sprintf(d.words, value))
		}
	}
	return list
}

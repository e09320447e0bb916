package page

import (
	"net/url"
	"regexp"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// SplitRecordName splits a record name from the audit log into its type and ID.
func SplitRecordName(of string) (recordType string, id uint64, err error) {
	recordType, id, ok := model.ParseRef(of)
	if !ok {
		return recordType, 0, errs.RecordNotFound("record", of)
	}
	return recordType, id, nil
}

// recordTypes are the types of records that have pages or are listed on them: what pages call one, and the path of its
// page up to the ID.
var recordTypes = []struct{ name, label, path string }{
	{"abstract", "abstract", "/abstracts/"}, {"order", "order", "/orders/"}, {"file", "document", "/documents/"},
	{"instrument", "instrument", "/instruments/"}, {"note", "note", ""}, {"folder", "folder", "/vault/"},
	{"template", "template", "/admin/templates/"}, {"user", "user", "/admin/users/"}, {"key", "key", "/admin/keys/"},
}

// RecordLabel returns what pages call a record of a type, such as "document".
func RecordLabel(recordType string) string {
	for _, t := range recordTypes {
		if t.name == recordType {
			return t.label
		}
	}
	return recordType
}

// RecordPath returns the address of a record's page, or "" if the record has no page.
func (si *Site) RecordPath(recordType string, id uint64) string {
	return recordPath(si.PublicRecordName(recordType, id))
}

// recordPath returns the address of the page of a record with a name as shown on pages, or "".
func recordPath(publicName string) string {
	recordType, id, _ := strings.Cut(publicName, ":")
	for _, t := range recordTypes {
		if t.name == recordType && t.path != "" {
			return t.path + id
		}
	}
	return ""
}

// recordTypeByPath returns the type of the records whose pages have a path that ends with segment and the ID, or "".
func recordTypeByPath(segment string) string {
	for _, t := range recordTypes {
		if segment != "" && strings.HasSuffix(t.path, "/"+segment+"/") {
			return t.name
		}
	}
	return ""
}

var recordNamePattern = regexp.MustCompile(`^[a-z_]{1,32}:[0-9]{1,20}$`)

// ParseRecordName converts a record name or the URL of a record's page to the record's name in the
// audit log, such as "file:17". It decodes opaque IDs. It returns "" if text is neither.
func (si *Site) ParseRecordName(text string) string {
	text = strings.TrimSpace(text)
	recordType, id, isName := strings.Cut(text, ":")
	if u, err := url.Parse(text); err == nil && strings.HasPrefix(u.Path, "/") {
		parts := strings.Split(strings.TrimPrefix(strings.Trim(u.Path, "/"), "admin/"), "/")
		if len(parts) < 2 {
			return ""
		}
		recordType, id, isName = recordTypeByPath(parts[0]), parts[1], true
	}
	if text = si.IDs.Decode(recordType + ":" + id); !isName || !recordNamePattern.MatchString(text) {
		return ""
	}
	return text
}

// PublicRecordName returns the name of a record as shown on pages: type:ID, with the opaque ID if
// the type has one.
func (si *Site) PublicRecordName(recordType string, id uint64) string {
	return si.IDs.Encode(model.RecordRef(recordType, id))
}

package page

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/secret"
)

// RecordName returns the name of a record as used in the audit log, such as "file:17".
func RecordName(recordType string, id uint64) string {
	return recordType + ":" + strconv.FormatUint(id, 10)
}

// FileRecordName returns the name of a document as used in the audit log.
func FileRecordName(id uint64) string { return RecordName("file", id) }

// IDCodec returns the opaque ID codec for a record type, or nil if the pages of that type show
// plain numbers.
func (si *Site) IDCodec(recordType string) *secret.IDs {
	switch recordType {
	case "abstract":
		return si.AbstractIDs
	case "order":
		return si.OrderIDs
	}
	return nil
}

// SplitRecordName splits a record name from the audit log into its type and ID.
func SplitRecordName(of string) (recordType string, id uint64, err error) {
	recordType, number, _ := strings.Cut(of, ":")
	if id, err = strconv.ParseUint(number, 10, 64); err != nil {
		return recordType, 0, errs.RecordNotFound("record", of)
	}
	return recordType, id, nil
}

// recordPaths maps record types to the paths of their pages, up to the ID.
var recordPaths = map[string]string{
	"abstract": "/abstracts/", "order": "/orders/", "file": "/documents/", "folder": "/vault/",
	"template": "/admin/templates/", "user": "/admin/users/", "key": "/admin/keys/", "instrument": "/instruments/",
}

// RecordPath returns the address of a record's page, or "" if the record has no page.
func (si *Site) RecordPath(recordType string, id uint64) string {
	if recordPaths[recordType] == "" {
		return ""
	}
	return recordPaths[recordType] + si.publicID(recordType, id)
}

// publicID returns a record's ID as shown on pages: opaque if the type has opaque IDs.
func (si *Site) publicID(recordType string, id uint64) string {
	if ids := si.IDCodec(recordType); ids != nil {
		return ids.Encode(id)
	}
	return strconv.FormatUint(id, 10)
}

// recordTypeByPath maps the first segment of a record page's path to the record type.
var recordTypeByPath = map[string]string{
	"abstracts": "abstract", "orders": "order", "documents": "file", "vault": "folder", "templates": "template", "users": "user", "keys": "key",
	"instruments": "instrument",
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
		recordType, id, isName = recordTypeByPath[parts[0]], parts[1], true
	}
	ids := si.IDCodec(recordType)
	if isName && ids != nil {
		if n, ok := ids.Decode(id); ok {
			return RecordName(recordType, n)
		}
		return ""
	}
	if text = recordType + ":" + id; !isName || !recordNamePattern.MatchString(text) {
		return ""
	}
	return text
}

// PublicRecordName returns the name of a record as shown on pages: type:ID, with the opaque ID if
// the type has one.
func (si *Site) PublicRecordName(recordType string, id uint64) string {
	return recordType + ":" + si.publicID(recordType, id)
}

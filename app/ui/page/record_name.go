package page

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/secret"
)

func RecordName(noun string, id uint64) string { return noun + ":" + strconv.FormatUint(id, 10) }

func FileRecordName(id uint64) string { return RecordName("file", id) }

// IDCodec returns the codec of a record type's opaque IDs, nil if its pages show plain numbers.
func (p *Site) IDCodec(noun string) *secret.IDs {
	switch noun {
	case "abstract":
		return p.AbstractIDs
	case "order":
		return p.OrderIDs
	}
	return nil
}

// SplitRecordName splits a record's name in the audit log.
func SplitRecordName(of string) (noun string, id uint64, err error) {
	noun, number, _ := strings.Cut(of, ":")
	if id, err = strconv.ParseUint(number, 10, 64); err != nil {
		return noun, 0, errs.RecordNotFound("record", of)
	}
	return noun, id, nil
}

// RecordPath returns the address of a record's page, "" if it has none.
func (p *Site) RecordPath(noun string, id uint64) string {
	switch noun {
	case "abstract":
		return p.AbstractPath(id)
	case "order":
		return p.OrderPath(id)
	case "file":
		return DocumentPath(id)
	case "folder":
		return FolderPath(id)
	case "template":
		return TemplatePath(id)
	case "user", "key":
		return "/admin/" + noun + "s/" + strconv.FormatUint(id, 10)
	}
	return ""
}

// nounByPath maps the first segment of a record page's address to the type of the record.
var nounByPath = map[string]string{
	"abstracts": "abstract", "orders": "order", "documents": "file", "vault": "folder", "templates": "template", "users": "user", "keys": "key",
}

var recordNamePattern = regexp.MustCompile(`^[a-z_]{1,32}:[0-9]{1,20}$`)

// ParseRecordName returns the audit log's name of a record from that name, or from the address of
// the record's page. It returns "" for other text.
func (p *Site) ParseRecordName(text string) string {
	text = strings.TrimSpace(text)
	noun, id, named := strings.Cut(text, ":")
	if u, err := url.Parse(text); err == nil && strings.HasPrefix(u.Path, "/") {
		parts := strings.Split(strings.TrimPrefix(strings.Trim(u.Path, "/"), "admin/"), "/")
		if len(parts) < 2 {
			return ""
		}
		noun, id, named = nounByPath[parts[0]], parts[1], true
	}
	ids := p.IDCodec(noun)
	if named && ids != nil {
		if n, ok := ids.Decode(id); ok {
			return RecordName(noun, n)
		}
		return ""
	}
	if text = noun + ":" + id; !named || !recordNamePattern.MatchString(text) {
		return ""
	}
	return text
}

// PublicRecordName returns the name of a record on pages: type:ID, with the opaque ID if it has
// one.
func (p *Site) PublicRecordName(noun string, id uint64) string {
	if ids := p.IDCodec(noun); ids != nil {
		return noun + ":" + ids.Encode(id)
	}
	return RecordName(noun, id)
}

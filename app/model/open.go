package model

import "strings"

// closings are the words that say that nobody works on an order any more, as they
// begin its status.
var closings = map[string]bool{
	"completed": true, "complete": true, "cancelled": true, "canceled": true, "closed": true,
	"delivered": true, "done": true, "finished": true, "void": true, "withdrawn": true, "archived": true,
}

// IsOpenStatus reports whether somebody still works on orders of this status: all but
// those that say otherwise, since an order that is missing among the due ones is
// worse than one too many. A new workspace closes orders with completed and canceled
// (WORKSPACE.md); a firm that names its own statuses is understood as long as they
// begin with such a word, alone or before a mark: "Cancelled (by client)". It is part
// of the keys of an index (app/store): a change is a new schema.
func IsOpenStatus(status string) bool {
	word := strings.TrimSpace(folded(status))
	if end := strings.IndexFunc(word, func(r rune) bool { return r < 0x80 && r != ' ' && (r < 'a' || r > 'z') }); end >= 0 {
		word = strings.TrimSpace(word[:end])
	}
	return !closings[word]
}

// IsOpen reports whether somebody still works on the order; see IsOpenStatus.
func (o Order) IsOpen() bool { return IsOpenStatus(o.Status) }

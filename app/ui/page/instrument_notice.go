package page

import "regexp"

// instrumentUndoPattern matches the addresses that an Undo button posts to after a change of the
// instruments of a document, in addition to undoPattern.
var instrumentUndoPattern = regexp.MustCompile(`^/documents/[0-9]+/instruments/(trash|restore)\?instrument=[0-9]+$`)

// SetUndoNotice stores a notice that the next page shows with an Undo button. undo must match
// undoPattern or instrumentUndoPattern; if it is "", there is no button.
func (p *Site) SetUndoNotice(r *Request, notice, undo string) { p.setUndoNotice(r, notice, undo) }

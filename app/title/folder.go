package title

// Folder is a place in the vault; ParentID 0 is the root.
type Folder struct {
	ID       uint64 `json:"id"`
	Name     string `json:"name"`
	ParentID uint64 `json:"parent_id,omitempty"`
}

// FolderDraft is a folder as it arrived.
type FolderDraft struct {
	Name     Input
	ParentID Number
}

// Check applies the rules that need no store. Known says whether the parent that
// the draft names is there.
func (d FolderDraft) Check(known bool) (Folder, Fields) {
	var f Fields
	folder := Folder{Name: f.line("name", d.Name, MaxName)}
	if folder.Name == "" && len(f) == 0 {
		f.Add("name", Required("name"))
	}
	folder.ParentID = f.reference("parent_id", d.ParentID, known)
	return folder, f
}

// CheckFolder applies the rules of a folder_id: an integer that names a folder.
func CheckFolder(id Number, known bool) (uint64, Fields) {
	var f Fields
	return f.reference("folder_id", id, known), f
}

// reference is the number of another record, 0 when none is named.
func (f *Fields) reference(field string, n Number, known bool) uint64 {
	switch {
	case !n.Present:
		return 0
	case !n.Valid:
		f.Add(field, NotInteger(field))
	case n.Value <= 0 || !known:
		f.Add(field, NotSelectable(field))
	default:
		return uint64(n.Value)
	}
	return 0
}

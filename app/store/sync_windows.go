package store

// initialMmap stays small here: bbolt grows the file itself to it.
const initialMmap = 16 << 20

// syncDir has no counterpart on Windows, where NTFS journals names itself.
func syncDir(string) error { return nil }
